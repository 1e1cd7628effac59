// Pages about datasets: the report, and the view that steps through rows.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { browser, chartsHaveData, faintTexts, folder, magnetar, open, overflows, serve } from "./harness.mjs";

let chrome;
before(async () => {
  chrome = await browser();
  magnetar("generate", "--out", "sim", "--limit", "12");
  magnetar("generate", "--out", "bare", "--limit", "1", "--split", "test", "--csi", "none");
});
after(async () => { await chrome.close(); });

test("the report is short until it is unfolded, leads everywhere, and every chart has data", async () => {
  magnetar("report", "sim", "-o", "report.html");
  assert.ok(statSync(join(folder, "report.html")).size < 5e6);
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [900, 1280, 1920]) {
      const about = width + " px, " + colorScheme;
      const context = await chrome.newContext({ colorScheme, viewport: { width, height: 900 } });
      const { page, check } = await open(context, pathToFileURL(join(folder, "report.html")).href);
      assert.ok((await page.evaluate(() => document.documentElement.scrollHeight)) < 4000, about);
      for (const link of await page.locator("nav a").all()) {
        await link.click();
        const target = (await link.getAttribute("href")).slice(1);
        const seen = await page.evaluate((id) => {
          const part = document.getElementById(id), { top } = part.getBoundingClientRect();
          return { open: part.tagName !== "DETAILS" || part.open, top, room: innerHeight };
        }, target);
        assert.ok(seen.open && seen.top < seen.room && seen.top > -5, about + ": " + target + " " + JSON.stringify(seen));
      }
      await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
      // Four splits with coverage, distributions and two examples of four charts each.
      assert.equal(await chartsHaveData(page), 4 * (2 + 2 * 4), about);
      assert.deepEqual(await overflows(page), [], about);
      assert.deepEqual(await faintTexts(page), [], about);
      // Dots of the coverage stand out from their ground.
      const dots = await page.locator("svg[aria-label^=Coverage] g[stroke-linecap=round] path").evaluateAll((all) => all.map((path) => [path.getAttribute("stroke-opacity"), path.getAttribute("stroke-width")].map(Number)));
      assert.ok(dots.length >= 8 && dots.every(([opacity, dot]) => opacity >= 0.75 && dot >= 2.5), JSON.stringify(dots));
      const words = await page.locator("body").innerText();
      for (const word of ["simulated", "train", "fusion", "Coverage", "Distributions", "Row 0 of test"]) assert.ok(words.includes(word), word);
      assert.ok((await page.locator("details tbody tr").count()) > 50);
      check();
      await context.close();
    }
  }
});

test("a dataset of one row without channel says so", async () => {
  magnetar("report", "bare", "-o", "bare.html");
  const context = await chrome.newContext();
  const { page, check } = await open(context, pathToFileURL(join(folder, "bare.html")).href);
  await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
  assert.ok((await page.locator("body").innerText()).includes("stores no channel"));
  check();
  const server = await serve("bare");
  const live = await open(context, server.address);
  assert.ok((await live.page.locator("#notes").innerText()).includes("stores no channel"));
  assert.ok(!(await live.page.locator("#channel").isVisible()));
  live.check();
  await context.close();
  await server.stop();
});

test("the view steps through rows, and a change leaves the stored row", async () => {
  const server = await serve("sim", "--split", "test", "--row", "2");
  const context = await chrome.newContext({ viewport: { width: 1400, height: 1000 } });
  const { page, check } = await open(context, server.address);
  const caption = () => page.locator("#caption").innerText();
  assert.ok((await caption()).includes("row 2 of test"), await caption());
  await page.locator("#next").click();
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("row 3 of test"));
  await page.locator("#previous").click();
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("row 2 of test"));
  await page.locator("#split").selectOption("train");
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("row 0 of train"));
  await chartsHaveData(page);
  await page.locator("#rx-h").fill("45");
  await page.waitForFunction(() => document.getElementById("rows").textContent.includes("no longer the stored row"));
  await page.waitForFunction(() => document.getElementById("caption").textContent.includes("seed"));
  check();
  await context.close();
  await server.stop();
});
