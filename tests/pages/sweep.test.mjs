// The page of a sweep.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { browser, chartsHaveData, faintTexts, folder, magnetar, open, overflows } from "./harness.mjs";

// Words, numbers, several keys and a logarithmic range on one page; long words that have to be clipped.
const axes = `
[[axis]]
name = "an assignment of materials"
key = "splits.test.materials"
labels = ["train's first, as it is", "all metal"]
values = [[{ wall = "concrete", ceiling = "concrete", floor = "marble" }], [{ wall = "metal", ceiling = "metal", floor = "metal" }]]
[[axis]]
key = "surfaces.board_material"
values = ["glass", "metal", "wood", "concrete", "brick", "plasterboard", "ceiling_board"]
[[axis]]
name = "severity"
keys = ["rf_chain.gain_ripple_db_rms", "rf_chain.phase_error_deg_rms"]
factor = true
values = [0, 2]
[[axis]]
name = "width"
keys = ["board.width_min_m", "board.width_max_m"]
from = 0.4
to = 2.0
steps = 4
scale = "log"
`;

let chrome;
before(async () => { chrome = await browser(); });
after(async () => { await chrome.close(); });

// Texts of a chart that leave it or lie on another: none must.
const clashes = (page) => page.locator("svg[role=img]").evaluateAll((charts) => charts.flatMap((svg) => {
  const outer = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((t) => t.textContent.trim());
  const boxes = texts.map((t) => ({ said: t.textContent, box: t.getBoundingClientRect() }));
  const about = svg.getAttribute("aria-label") + ": ";
  const outside = boxes.filter(({ box }) => box.left < outer.left - 1 || box.right > outer.right + 1);
  const pairs = boxes.flatMap((a, i) => boxes.slice(i + 1).map((b) => [a, b]));
  const over = pairs.filter(([{ box: a }, { box: b }]) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4);
  return [...outside.map(({ said }) => about + said + " leaves the chart"), ...over.map(([a, b]) => about + a.said + " lies on " + b.said)];
}));

for (const design of ["one-at-a-time", "grid", "sobol\"\npoints = \"18"]) {
  const name = design.split("\"")[0];
  test("every chart of a sweep has data and words that can be read, " + name, async () => {
    const posterior = name === "one-at-a-time" ? "posterior = \"base\"\n" : "";
    const head = `name = "pages"\ndescription = "of ${name}"\nsplit = "test"\nrows = 30\n${posterior}design = "${design}"\n`.replace("\"18\"", "18");
    writeFileSync(join(folder, name + ".toml"), head + axes);
    magnetar("sweep", name + ".toml", "--out", name);
    for (const [colorScheme, width] of [["light", 900], ["dark", 900], ["light", 1280], ["dark", 1280], ["light", 1920], ["dark", 1920]]) {
      const context = await chrome.newContext({ colorScheme, viewport: { width, height: 900 } });
      const { page, check } = await open(context, pathToFileURL(join(folder, name, "sweep.html")).href);
      const metrics = posterior ? 15 : 9;
      assert.equal(await chartsHaveData(page), 4 * metrics + (posterior ? 1 : 0));
      assert.deepEqual(await clashes(page), []);
      assert.deepEqual(await overflows(page), []);
      assert.deepEqual(await faintTexts(page), []);
      // Where all axes move at once, no line goes from point to point.
      const lines = await page.locator("[id^=axis-] svg[role=img] path[stroke-width='1.6'][fill=none]").count();
      assert.equal(lines > 0, name !== "sobol", name + ": " + lines + " lines");
      assert.ok(!/aoa_error_deg|map_xy_m|arrivals_mean/.test(await page.locator("body").innerText()), "columns are named in words");
      const words = await page.locator("body").innerText();
      for (const word of ["simulated", "nothing is measured", "one standard error", "of " + name]) assert.ok(words.includes(word), word);
      assert.equal(words.includes("What moves joint NLL of the true pose most"), posterior !== "");
      check();
      await context.close();
    }
  });
}
