//! Colours and fonts. One style sheet serves a picture by itself and in a page, in light and in dark.

/// The style sheet that [`crate::Figure::svg`] carries, for pages that hold many [`crate::Figure::svg_for_page`].
///
/// Colours follow the reader's preference for light or dark. A page that decides for itself sets any of `--cento-ink`,
/// `--cento-muted`, `--cento-grid`, `--cento-paper`, `--cento-rule` and `--cento-1` to `--cento-8` on an element
/// around the figure; what it sets wins in both. `--cento-paper` is the colour behind the figure: halos and hatches are drawn in it,
/// so a page gives it its own colour rather than `transparent`.
pub const STYLE: &str = "\
.cento-figure{--cf-ink:var(--cento-ink,#1c2128);--cf-muted:var(--cento-muted,#57606a);--cf-grid:var(--cento-grid,#e1e4e8);\
--cf-paper:var(--cento-paper,#fff);--cf-rule:var(--cento-rule,#b3261e);--cf-1:var(--cento-1,#0072b2);--cf-2:var(--cento-2,#d55e00);\
--cf-3:var(--cento-3,#009e73);--cf-4:var(--cento-4,#b5558c);--cf-5:var(--cento-5,#e69f00);--cf-6:var(--cento-6,#56b4e9);\
--cf-7:var(--cento-7,#6e7781);--cf-8:var(--cento-8,#1c2128);max-width:100%;height:auto;direction:ltr}
@media (prefers-color-scheme:dark){.cento-figure{--cf-ink:var(--cento-ink,#e6edf3);--cf-muted:var(--cento-muted,#9aa4af);\
--cf-grid:var(--cento-grid,#30363d);--cf-paper:var(--cento-paper,#0d1117);--cf-rule:var(--cento-rule,#ff8a80);\
--cf-1:var(--cento-1,#58a6e8);--cf-2:var(--cento-2,#f0813f);--cf-3:var(--cento-3,#2fc497);--cf-4:var(--cento-4,#e29cc5);\
--cf-5:var(--cento-5,#f2b632);--cf-6:var(--cento-6,#a5d8f7);--cf-7:var(--cento-7,#a0a8b0);--cf-8:var(--cento-8,#f0f3f6)}}
.cento-figure text{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,\"Noto Sans\",sans-serif;\
fill:var(--cf-ink);unicode-bidi:plaintext;white-space:pre}
.cento-figure .cf-title{font-size:16px;font-weight:600}
.cento-figure .cf-label,.cento-figure .cf-caption{font-size:12px}
.cento-figure .cf-tick,.cento-figure .cf-note{font-size:11px;font-variant-numeric:tabular-nums}
.cento-figure .cf-label,.cento-figure .cf-caption,.cento-figure .cf-tick{fill:var(--cf-muted)}
.cento-figure .cf-note{paint-order:stroke;stroke:var(--cf-paper);stroke-width:3px;stroke-linejoin:round}
.cento-figure .cf-rule-label{fill:var(--cf-rule)}
.cento-figure .cf-paper{fill:var(--cf-paper)}
.cento-figure .cf-grid{stroke:var(--cf-grid)}
.cento-figure .cf-axis{stroke:var(--cf-muted)}
.cento-figure .cf-rule{stroke:var(--cf-rule)}
.cento-figure .cf-region{fill:var(--cf-rule)}
.cento-figure .cf-ring{stroke:var(--cf-ink)}
.cento-figure .cf-hatch{stroke:var(--cf-paper)}
.cento-figure .cf-edge{stroke:var(--cf-paper)}
.cento-figure .cf-fill-1{fill:var(--cf-1)}.cento-figure .cf-line-1{stroke:var(--cf-1)}
.cento-figure .cf-fill-2{fill:var(--cf-2)}.cento-figure .cf-line-2{stroke:var(--cf-2)}
.cento-figure .cf-fill-3{fill:var(--cf-3)}.cento-figure .cf-line-3{stroke:var(--cf-3)}
.cento-figure .cf-fill-4{fill:var(--cf-4)}.cento-figure .cf-line-4{stroke:var(--cf-4)}
.cento-figure .cf-fill-5{fill:var(--cf-5)}.cento-figure .cf-line-5{stroke:var(--cf-5)}
.cento-figure .cf-fill-6{fill:var(--cf-6)}.cento-figure .cf-line-6{stroke:var(--cf-6)}
.cento-figure .cf-fill-7{fill:var(--cf-7)}.cento-figure .cf-line-7{stroke:var(--cf-7)}
.cento-figure .cf-fill-8{fill:var(--cf-8)}.cento-figure .cf-line-8{stroke:var(--cf-8)}
";

/// The colours of Okabe and Ito, which people who see few colours tell apart; without their yellow, which white paper
/// swallows, and in an order whose neighbours differ in brightness too. Programs that do not know the style sheet's variables see these.
pub(crate) const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#b5558c", "#e69f00", "#56b4e9", "#6e7781", "#1c2128",
];

/// Dashes of lines, by the number of the series: colour is never the only difference.
pub(crate) const DASHES: [&str; 6] = ["", "7 3", "2 3", "10 3 2 3", "14 4", "4 2 1 2 1 2"];

/// The colour of a series, from 1 to 8.
pub(crate) fn colour_number(series: usize) -> usize {
    series % COLOURS.len() + 1
}

/// The colour of a series as digits.
pub(crate) fn colour(series: usize) -> &'static str {
    COLOURS
        .get(series % COLOURS.len())
        .copied()
        .unwrap_or("#000")
}

/// The dashes of a series; none for the first.
pub(crate) fn dashes(series: usize) -> &'static str {
    DASHES.get(series % DASHES.len()).copied().unwrap_or("")
}
