// A browser, the binary, and what a page must never do.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const target = process.env.CARGO_TARGET_DIR || join(root, "target");
export const binary = process.env.MAGNETAR || join(target, "release", "magnetar");
export const folder = mkdtempSync(join(tmpdir(), "magnetar-pages-"));

export const magnetar = (...args) => execFileSync(binary, args, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = candidates.find((path) => path && existsSync(path));
export const browser = () => chromium.launch({ executablePath, args: ["--no-sandbox"] });

// Starts `magnetar view`; its first line is the address.
export async function serve(...args) {
  const child = spawn(binary, ["view", ...args], { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((done) => child.once("exit", (code, signal) => done({ code, signal })));
  let complaint = "";
  child.stderr.on("data", (text) => { complaint += text; });
  const lines = createInterface({ input: child.stdout });
  const address = await new Promise((found, failed) => {
    lines.once("line", found);
    child.once("exit", () => failed(new Error(complaint)));
  });
  return { address, stop: async () => { child.kill("SIGINT"); return ended; } };
}

// A page that fails the test on any error in its console, any uncaught error and any request elsewhere.
export async function open(context, url) {
  const page = await context.newPage();
  // A machine that does other work as well may be slow; what hangs still ends.
  page.setDefaultTimeout(120_000);
  const faults = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) faults.push(message.text()); });
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("request", (request) => {
    const own = ["blob:", "data:"].some((s) => request.url().startsWith(s)) || new URL(request.url()).origin === new URL(url).origin;
    if (!own) faults.push("a request elsewhere: " + request.url());
  });
  await page.goto(url);
  return { page, check: () => assert.deepEqual(faults, []) };
}

// Every chart has data: marks or lines beyond its axes, none with a coordinate that is not a number.
export async function chartsHaveData(page, selector = "svg[role=img]") {
  const charts = await page.locator(selector).evaluateAll((all) => all.map((svg) => ({
    label: svg.getAttribute("aria-label"),
    marks: svg.querySelectorAll("svg path, g path, path[fill-opacity]").length,
    broken: /NaN|Infinity|undefined/.test(svg.outerHTML),
    width: svg.getBoundingClientRect().width,
  })));
  assert.ok(charts.length > 0, "no chart at all");
  for (const chart of charts) {
    assert.ok(chart.label, "a chart without a name");
    assert.ok(chart.marks > 0, chart.label + ": no data");
    assert.ok(!chart.broken, chart.label + ": a broken number");
    assert.ok(chart.width > 100, chart.label + ": not visible");
  }
  return charts.length;
}

// Texts whose colour is too near to what they stand on (WCAG: 4.5 : 1), named with their contrast.
export async function faintTexts(page) {
  return page.evaluate(() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const rgb = (paint) => {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = paint;
      canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .reduce((sum, c, n) => sum + c * [0.2126, 0.7152, 0.0722][n], 0);
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const paint = rgb(getComputedStyle(at).backgroundColor);
        if (paint[3] > 250) return paint;
      }
      return [255, 255, 255];
    };
    const faint = new Set();
    for (const element of document.querySelectorAll("body *")) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
      if (!own || !element.checkVisibility() || ["SCRIPT", "STYLE", "TITLE", "OPTION"].includes(element.tagName.toUpperCase())) continue;
      const style = getComputedStyle(element), inSvg = element.namespaceURI.includes("svg");
      const [a, b] = [luminance(rgb(inSvg ? style.fill : style.color)), luminance(ground(element))];
      let opacity = 1;
      for (let at = element; at; at = at.parentElement) opacity *= Number(getComputedStyle(at).opacity);
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < 4.5 || opacity < 1) faint.add(element.textContent.trim().slice(0, 30) + ": " + contrast.toFixed(2) + ", opacity " + opacity);
    }
    return [...faint];
  });
}

// The page is as wide as the window, and nothing inside is cut at its right edge.
export async function overflows(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const found = scrollWidth === clientWidth ? [] : ["the page: " + scrollWidth + " of " + clientWidth];
    for (const element of document.querySelectorAll("section, table, fieldset, .head")) {
      if (element.checkVisibility() && element.scrollWidth > element.clientWidth + 1 && !element.closest(".scroll, .unseen")) {
        found.push((element.id || element.className || element.tagName) + ": " + element.scrollWidth + " of " + element.clientWidth);
      }
    }
    return found;
  });
}
