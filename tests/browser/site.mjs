// The site of `cento serve` in Chromium: every view, sorting, filtering, judging by keyboard, two judges, a killed
// server, and pages of an attacker.
//
//   PLAYWRIGHT=…/node_modules/playwright-core node tests/browser/site.mjs target/debug/cento
//
// With SCREENSHOTS=FOLDER, each view is also saved as an image: light and dark, wide and 400 pixels wide.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const { chromium } = createRequire(import.meta.url)(process.env.PLAYWRIGHT ?? "playwright-core");
const binary = resolve(process.argv[2] ?? "target/debug/cento");
const shots = process.env.SCREENSHOTS;
const folder = mkdtempSync(join(tmpdir(), "cento-browser-"));
const ATTACK = `"><script>window.attacked = true; alert("xss")</script><img src="http://evil.example/x" onerror="window.attacked = true">`;

function cento(...words) {
  const done = spawnSync(binary, words, { cwd: folder, encoding: "utf8" });
  assert.equal(done.status, 0, `${words.join(" ")}\n${done.stderr}`);
}

function makeCorpus() {
  const lines = [];
  const words = (from) => Array.from({ length: 60 }, (_, at) => `quux${((from * 37 + at) * 7919) % 10007}`);
  for (let number = 0; number < 8; number += 1) {
    lines.push({ url: `http://source${number}.example/${number}`, text: words(number * 60).join(" "), date: `2020-01-0${number + 1}` });
  }
  for (let number = 0; number < 3; number += 1) {
    const text = [];
    for (let source = 0; source < 8; source += 1) {
      text.push(...words(source * 60).slice(10 * number, 10 * number + 14), ATTACK, "\u202ereversed\u202c");
    }
    lines.push({ url: `http://quilt${number}.example/${ATTACK}`, title: ATTACK, text: text.join(" "), date: "2022-02-02" });
  }
  const poem = "春眠不觉晓,处处闻啼鸟。夜来风雨声,花落知多少。床前明月光,疑是地上霜。举头望明月,低头思故乡。".repeat(3);
  for (const host of ["a", "b"]) lines.push({ url: `http://${host}.example/诗`, title: "诗", text: poem });
  // A megabyte without a space, twice.
  for (const host of ["long", "longer"]) lines.push({ url: `http://${host}.example/${"y".repeat(1500)}`, title: "z".repeat(3000), text: "x".repeat(1 << 20) });
  writeFileSync(join(folder, "extra.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  cento("synth", "-o", "s", "--pages", "500", "--languages", "en", "--seed", "1");
  cento("index", "s/crawl", "extra.jsonl", "-o", "c.cento");
  cento("copies", "c.cento");
  cento("quilts", "c.cento", "-c", "3", "-t", "0.3");
  cento("reuse", "c.cento");
  cento("passages", "c.cento");
  cento("passages", "c.cento", "--clusters");
  cento("overlap", "c.cento", "--servers");
  cento("phrases", "c.cento");
  cento("discover", "c.cento", "-o", "c.labels");
  cento("detect", "c.cento", "--labels", "c.labels");
  cento("query", "c.cento", "extra.jsonl");
}

function start(port = 0) {
  const server = spawn(binary, ["serve", "c.cento", "--labels", "c.labels", "--listen", `127.0.0.1:${port}`, "--threads", "2"], { cwd: folder });
  server.said = "";
  server.stderr.on("data", (text) => { server.said += text; });
  return new Promise((done, failed) => {
    server.stdout.once("data", (text) => done({ server, base: String(text).trim().replace(/\/$/, "") }));
    server.once("exit", () => failed(new Error(`the server stopped: ${server.said}`)));
  });
}

const problems = [];
async function watched(browser, base, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, ...options });
  context.on("request", (request) => {
    if (!request.url().startsWith(base)) problems.push(`a request left: ${request.url()}`);
  });
  context.on("page", (page) => {
    page.on("dialog", (dialog) => { problems.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on("pageerror", (error) => problems.push(`an error on ${page.url()}: ${error}`));
    page.on("console", (message) => {
      // A refused status is tested on purpose; a violated policy is not.
      if (message.type() === "error" && !message.text().includes("status of")) problems.push(`${page.url()}: ${message.text()}`);
    });
  });
  return context;
}

let step = "";
async function test(name, body) {
  step = name;
  const begun = Date.now();
  await body();
  assert.deepEqual(problems, [], name);
  console.log(`ok ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
}

const number = (text) => Number(text.replaceAll(/[^0-9.]/g, ""));

makeCorpus();
let { server, base } = await start();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
let failed = false;
try {
  const context = await watched(browser, base);
  const page = await context.newPage();
  const open = (path) => page.goto(`${base}${path}`);
  const api = async (path) => (await context.request.get(`${base}${path}`)).json();
  const evidence = async (list, query = "") => (await api(`/api/lists/${list}?size=1${query}`)).rows[0].evidence;

  const views = {
    overview: "/",
    lists: "/lists",
    list: "/lists/passages",
    quilt: await evidence("quilts"),
    "attacking-quilt": await evidence("quilts", "&host=quilt0.example"),
    pair: await evidence("reuse"),
    "edited-pair": await evidence("passages", "&category=edited"),
    "chinese-pair": await evidence("duplicates", "&host=b.example"),
    class: await evidence("classes"),
    passage: await evidence("clusters"),
    neighbourhoods: "/neighbourhoods",
    page: await evidence("detected"),
    "long-page": await evidence("popular", "&host=long.example"),
    phrase: await evidence("phrases"),
    label: await evidence("labels"),
    "empty-list": "/lists/overlap",
    judge: "/judge",
    ask: "/ask",
    missing: "/nothing",
  };

  await test("every view opens, holds its layout at any width, and runs nothing of a page", async () => {
    for (const [name, path] of Object.entries(views)) {
      for (const width of [1200, 400]) {
        for (const colorScheme of ["light", "dark"]) {
          if (colorScheme === "dark" && !shots) continue;
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          const response = await open(path);
          assert.ok([200, 404].includes(response.status()), `${path}: ${response.status()}`);
          const [content, inner] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
          assert.ok(content <= inner, `${name} is ${content} pixels wide in a window of ${inner}`);
          assert.equal(await page.evaluate(() => window.attacked), undefined, name);
          if (shots) {
            mkdirSync(shots, { recursive: true });
            await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`) });
          }
        }
      }
    }
    await page.setViewportSize({ width: 1200, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
  });

  await test("a list is sorted, filtered and paged, by mouse and by keyboard", async () => {
    await open("/lists/passages");
    await page.getByRole("link", { name: "words", exact: true }).click();
    await page.waitForURL(/sort=words&order=descending/);
    const column = async () => {
      const cells = await page.locator('td[data-label="words"]').allTextContents();
      return cells.map(number);
    };
    const falling = await column();
    assert.deepEqual(falling, [...falling].sort((one, other) => other - one));
    assert.equal(await page.locator("th[aria-sort=descending]").textContent(), "words");
    await page.getByRole("link", { name: "words" }).click();
    await page.waitForURL(/order=ascending/);
    const rising = await column();
    assert.deepEqual(rising, [...rising].sort((one, other) => one - other));
    await page.keyboard.press("n");
    await page.waitForURL(/page=2/);
    const host = new URL((await api("/api/lists/passages?size=1")).rows[0].a).host;
    await page.keyboard.press("/");
    await page.keyboard.type(host);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("host") === host);
    assert.match(await page.locator(".counts").textContent(), / of .* rows? pass(es)? the filters/);
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/pair\?/);
    assert.match(await page.locator("h1").textContent(), /Two pages compared/);
  });

  await test("a passage of a quilt and its source light each other up", async () => {
    await open(views["attacking-quilt"]);
    const mark = page.locator("mark[data-source]").first();
    const source = await mark.getAttribute("data-source");
    await mark.hover();
    const entry = page.locator(`.sources > li[data-source="${source}"]`);
    assert.match(await entry.getAttribute("class"), /lit/);
    await mark.focus();
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.matches(".sources > li")), true);
    await entry.hover();
    assert.match(await mark.getAttribute("class"), /lit/);
  });

  const judge = async (tab, session, name) => {
    await tab.goto(`${base}/judge/${session}`);
    await tab.locator('input[name="judge"]').fill(name);
    await tab.keyboard.press("Enter");
    await tab.waitForURL(/judge=/);
  };
  const press = async (tab, key) => {
    await Promise.all([tab.waitForNavigation(), tab.keyboard.press(key)]);
  };
  const progress = (tab) => tab.locator("#judged").textContent();

  await test("twenty items are judged by keyboard, one is undone, and the export has the others", async () => {
    await open("/lists/passages");
    await page.locator('.sample input[name="size"]').fill("20");
    await page.getByRole("button", { name: "Start a session" }).click();
    await page.waitForURL(/\/judge\/0$/);
    await judge(page, 0, "Ann");
    for (let item = 0; item < 20; item += 1) {
      assert.equal(await progress(page), `${item} of 20`);
      if (item === 3) {
        await page.keyboard.press("e");
        await page.keyboard.type("a note with <b>markup</b>");
        await page.keyboard.press("Escape");
      }
      await press(page, ["s", "s", "n", "u"][item % 4]);
    }
    assert.match(await page.locator("main").textContent(), /All items are judged/);
    await press(page, "z");
    assert.equal(await progress(page), "19 of 20");
    await page.reload();
    assert.equal(await progress(page), "19 of 20");
    if (shots) await page.screenshot({ path: join(shots, "judging.png") });
    const lines = await (await context.request.get(`${base}/judge/export.jsonl`)).text();
    const rows = lines.trim().split("\n").map((line) => JSON.parse(line));
    assert.equal(rows.length, 19);
    assert.equal(rows.filter((row) => row.verdict === "spam").length, 10);
    assert.equal(rows.find((row) => row.item === 3).note, "a note with <b>markup</b>");
    const csv = await (await context.request.get(`${base}/judge/export.csv`)).text();
    assert.equal(csv.trim().split("\r\n").length, 20);
  });

  await test("two judges judge at once, and their agreement is shown", async () => {
    const contexts = [await watched(browser, base), await watched(browser, base)];
    const tabs = await Promise.all(contexts.map((one) => one.newPage()));
    await Promise.all([judge(tabs[0], 0, "Bo"), judge(tabs[1], 0, "Cyd")]);
    for (let item = 0; item < 8; item += 1) {
      await Promise.all([press(tabs[0], "s"), press(tabs[1], item % 2 ? "s" : "n")]);
    }
    for (const tab of tabs) assert.equal(await progress(tab), "8 of 20");
    await open("/judge");
    const text = await page.locator("main").textContent();
    assert.match(text, /Bo and Cyd/);
    assert.match(text, /majority of all/);
    if (shots) await page.screenshot({ path: join(shots, "verdicts.png"), fullPage: true });
    await Promise.all(contexts.map((one) => one.close()));
  });

  await test("a killed server loses nothing that was confirmed", async () => {
    await judge(page, 0, "Dee");
    for (let item = 0; item < 5; item += 1) await press(page, "u");
    const port = new URL(base).port;
    const gone = new Promise((done) => { server.once("exit", done); });
    server.removeAllListeners("exit");
    server.once("exit", () => {});
    process.kill(server.pid, "SIGKILL");
    await Promise.race([gone, new Promise((done) => { setTimeout(done, 500); })]);
    ({ server, base } = await start(port));
    await page.goto(`${base}/judge/0?judge=Dee`);
    assert.equal(await progress(page), "5 of 20");
  });

  await test("a pasted text and an uploaded file are answered with aligned passages", async () => {
    await open("/ask");
    const text = Array.from({ length: 60 }, (_, at) => `quux${(at * 7919) % 10007}`).join(" ");
    await page.locator("textarea").fill(text);
    await page.getByRole("button", { name: "Ask" }).click();
    await page.waitForLoadState();
    assert.match(await page.locator("main").textContent(), /source0\.example/);
    if (shots) await page.screenshot({ path: join(shots, "answer.png") });
    await page.locator('input[name="file"]').setInputFiles({ name: `<b>.txt`, mimeType: "text/plain", buffer: Buffer.from(text) });
    await page.getByRole("button", { name: "Ask" }).click();
    await page.waitForLoadState();
    assert.match(await page.locator("main").textContent(), /About <b>\.txt/);
  });
} catch (error) {
  failed = true;
  console.error(`failed: ${step}\n`, error);
} finally {
  await browser.close();
  server.removeAllListeners("exit");
  server.kill();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
