// The report of `cento scan` and the pages of `cento detect --evidence` in Chromium: they do not scroll sideways on a
// screen of 400 pixels, every link within them leads to an element, figures are readable, and nothing is requested or run.
//
//   PLAYWRIGHT=…/node_modules/playwright-core node tests/browser/report.mjs target/debug/cento
//
// With SCREENSHOTS=FOLDER, each page is also saved as an image: light and dark, 1400 and 400 pixels wide.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT ?? "playwright-core");
const binary = resolve(process.argv[2] ?? "target/debug/cento");
const shots = process.env.SCREENSHOTS;
const folder = mkdtempSync(join(tmpdir(), "cento-report-"));
const ATTACKS = [
  `"><script>window.attacked = true</script><img src="http://evil.example/x" onerror="window.attacked = true">`,
  "\u202ereversed\u202c", "y".repeat(3000), "</style></title><h1>x</h1>",
];

function cento(...words) {
  const done = spawnSync(binary, words, { cwd: folder, encoding: "utf8" });
  assert.equal(done.status, 0, `${words.join(" ")}\n${done.stderr}`);
}

function write(name, rows) {
  writeFileSync(join(folder, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

const words = (from, count) => Array.from({ length: count }, (_, at) => `quux${((from * 997 + at) * 7919) % 10007}`).join(" ");
const hostile = [];
for (let page = 0; page < 24; page += 1) {
  const attack = ATTACKS[page % ATTACKS.length];
  const shared = [0, 1, 2, 3, 4].map((part) => words(page % 3 === 0 ? part : (page + part) % 9, 60)).join("\n\n");
  hostile.push({ url: `http://${page % 5 ? `site${page}` : "x".repeat(60)}.example/${attack}`, title: attack, text: `${shared}\n\n${words(100 + page, 40)} ${attack}`, date: `20${10 + page}-01-02` });
}
write("hostile.jsonl", hostile);
write("mine.jsonl", [{ url: "http://mine.example/", title: ATTACKS[0], text: [0, 1, 2].map((part) => words(part, 60)).join("\n\n"), date: "2009-01-01" }]);
const poem = "春眠不觉晓,处处闻啼鸟。夜来风雨声,花落知多少。床前明月光,疑是地上霜。举头望明月,低头思故乡。";
write("chinese.jsonl", Array.from({ length: 12 }, (_, page) => ({ url: `http://网站${page % 4}.example/诗/${page}`, title: "诗", text: `${poem.repeat(3)}\n\n${String.fromCodePoint(0x4e00 + page).repeat(400)}` })));
cento("synth", "-o", "s", "--pages", "300", "--languages", "en", "--seed", "1");
cento("scan", "s/crawl", "-o", "crawl.cento");
cento("scan", "chinese.jsonl", "-o", "chinese.cento");
cento("scan", "hostile.jsonl", "-o", "hostile.cento");
cento("detect", "hostile.cento", "--against", "mine.jsonl", "--evidence", "letters", "--out", "shared.csv");
cento("report", "hostile.cento");

const letters = readdirSync(join(folder, "letters"));
assert.ok(letters.length > 2, `${letters}`);
const pages = { crawl: "crawl.cento/report.html", chinese: "chinese.cento/report.html", hostile: "hostile.cento/report.html", index: "letters/index.html", letter: `letters/${letters.find((name) => name !== "index.html")}` };
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"] });
let failed = false;
try {
  for (const [name, file] of Object.entries(pages)) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1400, 400]) {
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
        const problems = [];
        context.on("request", (request) => { if (!request.url().startsWith("file://")) problems.push(request.url()); });
        const page = await context.newPage();
        page.on("dialog", (dialog) => { problems.push(dialog.message()); dialog.dismiss(); });
        await page.goto(`file://${join(folder, file)}`);
        const seen = await page.evaluate(() => {
          const root = document.documentElement;
          const broken = [...document.querySelectorAll("a[href^='#']")].map((link) => link.getAttribute("href").slice(1)).filter((id) => !document.getElementById(id));
          const letters = [...document.querySelectorAll(".figures svg text")].filter((text) => text.getClientRects().length > 0).map((text) => text.getBoundingClientRect().height);
          return { scroll: root.scrollWidth, inner: innerWidth, broken, smallest: Math.min(99, ...letters), findings: document.querySelectorAll(".findings > li").length, attacked: window.attacked === true };
        });
        const about = `${name}, ${colorScheme}, ${width} pixels: ${JSON.stringify(seen)}`;
        assert.ok(seen.scroll <= seen.inner, about);
        assert.deepEqual(seen.broken, [], about);
        assert.ok(seen.smallest >= 8, about);
        assert.ok(seen.findings <= 5, about);
        assert.equal(seen.attacked, false, about);
        assert.deepEqual(problems, [], about);
        if (shots) await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}.png`), fullPage: true });
        await context.close();
      }
    }
    console.log(`ok ${name}`);
  }
} catch (error) {
  failed = true;
  console.error(error);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
