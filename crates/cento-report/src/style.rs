//! The style sheet of a report: light and dark by the preference of the reader, and for print.

/// The style sheet. Sources have the colours of figures and differ in their underlines too, because
/// colour alone is not accessible.
pub const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2128;--muted:#57606a;--line:#d8dee4;--paper:#fff;--soft:#f6f8fa;--link:#0550ae;--edge:rgba(28,33,40,.35);\
--s1:#0072b2;--s2:#d55e00;--s3:#009e73;--s4:#b5558c;--s5:#a06b00;--s6:#2b8cbe;--s7:#6e7781;--tint:16%;\
--cento-ink:var(--ink);--cento-muted:var(--muted);--cento-paper:var(--paper)}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--muted:#9aa4af;--line:#30363d;--paper:#0d1117;--soft:#161b22;--link:#79b8ff;--edge:rgba(230,237,243,.45);\
--s1:#58a6e8;--s2:#f0813f;--s3:#2fc497;--s4:#e29cc5;--s5:#f2b632;--s6:#a5d8f7;--s7:#a0a8b0;--tint:24%}}
*{box-sizing:border-box}
html{font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,\"Noto Sans\",sans-serif;\
color:var(--ink);background:var(--paper);-webkit-text-size-adjust:100%}
body{max-width:82rem;margin:0 auto;padding:1.5rem 1.25rem 4rem}
h1{font-size:1.7rem;line-height:1.2;margin:0 0 .25rem;overflow-wrap:anywhere}
h2{font-size:1.35rem;line-height:1.25;margin:3rem 0 .25rem;padding-top:1rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:2rem 0 .5rem}
h3::first-letter{text-transform:uppercase}
p{margin:.4rem 0;max-width:48rem;overflow-wrap:anywhere}
a{color:var(--link)}
.question{color:var(--muted);font-style:italic;margin-bottom:1rem}
.muted,figcaption{color:var(--muted);font-size:.875rem}
nav ul{list-style:none;padding:0;margin:1rem 0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:.75rem;margin:1.25rem 0;padding:0;list-style:none}
.tiles li{background:var(--soft);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}
.tiles b{display:block;font-size:1.5rem;line-height:1.2;font-variant-numeric:tabular-nums}
.tiles span{color:var(--muted);font-size:.875rem}
.findings{padding-left:1.6rem;max-width:56rem;font-size:1.1rem;margin:1.25rem 0 .5rem}
.findings li{margin:.5rem 0;overflow-wrap:anywhere}
.findings a{white-space:nowrap;font-size:.95rem}
.findings-none{font-size:1.1rem;margin:1.25rem 0}
:target{scroll-margin-top:1rem}
article:target,h3:target+.wide{outline:2px solid var(--link);outline-offset:.4rem;border-radius:.25rem}
.facts{display:grid;grid-template-columns:minmax(7rem,auto) minmax(0,1fr);gap:.2rem .75rem;margin:.5rem 0;font-size:.9rem}
.facts dt{color:var(--muted)}.facts dd{margin:0;overflow-wrap:anywhere}
.summary{padding-left:1.2rem;max-width:52rem}
.summary li{margin:.35rem 0;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,36rem),1fr));gap:1.25rem;margin:1.25rem 0;align-items:start}
.figures figure{margin:0;min-width:0;max-width:48rem;border:1px solid var(--line);border-radius:.5rem;padding:.75rem}
.figures .narrow{display:none}
.figures svg{display:block;width:100%;height:auto}
.wide{overflow-x:auto;background:\
linear-gradient(to right,var(--paper) 40%,transparent) left/2.5rem 100% no-repeat local,\
linear-gradient(to left,var(--paper) 40%,transparent) right/2.5rem 100% no-repeat local,\
linear-gradient(to right,var(--edge),transparent) left/.8rem 100% no-repeat scroll,\
linear-gradient(to left,var(--edge),transparent) right/.8rem 100% no-repeat scroll}
table{border-collapse:collapse;min-width:min(100%,48rem);max-width:100%;font-size:.9rem}
th,td{text-align:start;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--line)}
th{color:var(--muted);font-weight:600;white-space:nowrap}
td{overflow-wrap:anywhere;min-width:7rem;overflow:hidden}
.n{text-align:end;white-space:nowrap;font-variant-numeric:tabular-nums;min-width:0}
td:first-child{min-width:12rem}
code,pre{font:.85rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{margin:.2rem 0;padding:.5rem .75rem;background:var(--soft);border:1px solid var(--line);border-radius:.4rem;\
white-space:pre-wrap;overflow-wrap:anywhere}
.next{list-style:none;padding:0}
.next li{margin:.75rem 0}
.quilt{display:grid;grid-template-columns:minmax(0,3fr) minmax(0,2fr);gap:1.25rem;margin:.75rem 0 2rem;align-items:start}
.sides{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:1.25rem;margin:.5rem 0 2rem;align-items:start}
.sides p{margin:0 0 .4rem;font-size:.875rem;overflow-wrap:anywhere}
.words{background:var(--soft);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;font-size:.9rem;\
white-space:pre-wrap;overflow-wrap:anywhere;overflow:hidden}
.words .gap{color:var(--muted);font-style:italic}
.sources{list-style:none;margin:0;padding:0;font-size:.875rem}
.sources>li{margin:0 0 1rem;overflow-wrap:anywhere}
.sources blockquote{margin:.35rem 0;padding:.35rem .6rem;border-inline-start:3px solid var(--line);background:var(--soft);\
white-space:pre-wrap;overflow:hidden;color:var(--muted)}
mark{color:inherit;background:color-mix(in srgb,var(--c) var(--tint),transparent);text-decoration:underline 2px var(--c);\
text-underline-offset:.2em;text-decoration-skip-ink:none}
.key{display:inline-block;min-width:1.4em;text-align:center;font-weight:700;color:var(--c);font-style:normal}
sup.key{min-width:0;font-size:.7em;line-height:0;margin-inline-end:.1em}
.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}.s6{--c:var(--s6)}.s7{--c:var(--s7)}
mark.s2{text-decoration-style:dashed}mark.s3{text-decoration-style:dotted}mark.s4{text-decoration-style:double}\
mark.s5{text-decoration-style:wavy;text-decoration-thickness:1px}mark.s6{text-decoration-style:dashed;text-decoration-thickness:1px}\
mark.s7{text-decoration-style:dotted;text-decoration-thickness:1px}
footer{margin-top:3rem;padding-top:.5rem;border-top:1px solid var(--line)}footer h2{border:0;margin-top:0}
.notes{color:var(--muted);font-size:.875rem;max-width:48rem}
@media (max-width:48rem){.quilt,.sides{grid-template-columns:minmax(0,1fr)}}
@media (max-width:36rem){.figures .broad{display:none}.figures .narrow{display:block}.figures figure{padding:.25rem}\
body{padding:1rem .75rem 3rem}.facts{grid-template-columns:minmax(0,1fr)}.facts dd{margin-bottom:.4rem}}
@media print{
:root{color-scheme:light;--ink:#000;--muted:#444;--line:#bbb;--paper:#fff;--soft:#f6f6f6;--link:#000;\
--s1:#0072b2;--s2:#d55e00;--s3:#009e73;--s4:#b5558c;--s5:#a06b00;--s6:#2b8cbe;--s7:#6e7781;--tint:16%;\
--cento-grid:#e1e4e8;--cento-rule:#b3261e;--cento-1:#0072b2;--cento-2:#d55e00;--cento-3:#009e73;--cento-4:#b5558c;\
--cento-5:#e69f00;--cento-6:#56b4e9;--cento-7:#6e7781;--cento-8:#1c2128}
html{font-size:11pt}body{max-width:none;padding:0}nav{display:none}
h2,h3{break-after:avoid}figure,tr,.tiles li,.next li,blockquote{break-inside:avoid}
.figures{grid-template-columns:1fr}.figures figure{max-width:15cm}
.wide{overflow:visible}
}
";
