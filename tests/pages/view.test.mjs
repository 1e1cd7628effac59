// The interactive page: it follows what is dragged, and needs nothing but its own server.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { browser, chartsHaveData, folder, magnetar, open, serve } from "./harness.mjs";

let chrome;
before(async () => { chrome = await browser(); });
after(async () => { await chrome.close(); });

const text = (page, id) => page.locator("#" + id).innerText();
const markup = (page, id) => page.locator("#" + id).innerHTML();
const changes = (page, id, old) => page.waitForFunction(([i, o]) => document.getElementById(i).innerHTML !== o, [id, old]);

// Where a point of the room is on the screen.
async function onScreen(page, x, y) {
  return page.evaluate(([x, y]) => {
    const svg = document.querySelector("#plan svg"), box = svg.getBoundingClientRect();
    const result = JSON.parse(document.getElementById("start").textContent).result;
    const f = result.plan_frame;
    const px = f.area[0] + (x - f.x_m[0]) / (f.x_m[1] - f.x_m[0]) * f.area[2];
    const py = f.area[1] + (f.y_m[1] - y) / (f.y_m[1] - f.y_m[0]) * f.area[3];
    return [box.left + px / f.size[0] * box.width, box.top + py / f.size[1] * box.height];
  }, [x, y]);
}

async function drag(page, from, to) {
  await page.locator("#plan").scrollIntoViewIfNeeded();
  const a = await onScreen(page, ...from), b = await onScreen(page, ...to);
  await page.mouse.move(...a);
  await page.mouse.down();
  await page.mouse.move((a[0] + b[0]) / 2, (a[1] + b[1]) / 2, { steps: 4 });
  await page.mouse.move(...b, { steps: 4 });
  await page.mouse.up();
}

for (const colorScheme of ["light", "dark"]) {
  test("the page opens without errors, " + colorScheme, async () => {
    const server = await serve("lab_middle", "--tx", "2.5,2,1.08,-120", "--rx", "0.5,-2,1.08,60");
    const context = await chrome.newContext({ colorScheme, viewport: { width: 1400, height: 1000 } });
    const { page, check } = await open(context, server.address);
    assert.equal(await chartsHaveData(page), 4);
    assert.ok((await page.locator("#paths tr").count()) >= 5);
    assert.ok((await page.locator("#arrivals tr").count()) >= 1);
    const ink = await page.locator("#room3d").evaluate((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let n = 0; n < data.length; n += 4) seen.add((data[n] << 16) | (data[n + 1] << 8) | data[n + 2]);
      return seen.size;
    });
    assert.ok(ink > 20, "the 3D view has " + ink + " colours");
    check();
    await context.close();
    const end = await server.stop();
    assert.ok(end.signal === "SIGINT" || end.code === 0 || end.code === 130, JSON.stringify(end));
  });
}

test("dragging, turning, boards and materials move paths and posterior", async () => {
  const server = await serve("lab_middle", "--tx", "2.5,2,1.08,-120", "--rx", "0.5,-2,1.08,60");
  const context = await chrome.newContext({ viewport: { width: 1400, height: 1000 } });
  const { page, check } = await open(context, server.address);
  const step = async (act, ids) => {
    await page.waitForFunction(() => !document.querySelector("#posterior.stale"));
    const old = Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await markup(page, id)])));
    await act();
    for (const id of ids) await changes(page, id, old[id]);
    await page.waitForFunction(() => !document.querySelector("#posterior.stale"));
  };
  await step(() => drag(page, [2.5, 2], [3.2, -1]), ["paths", "plan", "channel", "delay", "arrivals", "posterior"]);
  assert.ok(Math.abs(Number(await page.locator("#tx-x").inputValue()) - 3.2) < 0.1);
  assert.ok(Math.abs(Number(await page.locator("#tx-y").inputValue()) + 1) < 0.1);
  await step(() => page.locator("#rx-h").fill("10"), ["paths", "channel", "posterior"]);
  await step(() => drag(page, [1.0225, 1], [2, -1.5]), ["plan", "posterior"]);
  assert.ok(Math.abs(Number(await page.locator("#box-y").inputValue()) + 1.5) < 0.1);
  await step(() => page.locator("#wall").selectOption("plasterboard"), ["paths", "channel", "posterior"]);
  await step(() => page.locator("#box-add").click(), ["plan"]);
  assert.equal(await page.locator("#box option").count(), 2);
  await step(() => page.locator("#box-remove").click(), ["plan"]);
  await step(() => page.locator("#colour").selectOption("surface"), ["plan"]);
  const picture = () => page.locator("#room3d").evaluate((canvas) => canvas.toDataURL());
  const before3d = await picture();
  await page.locator("#room3d").focus();
  await page.keyboard.press("ArrowLeft");
  assert.notEqual(await picture(), before3d, "the arrow keys turn the room");
  check();
  // A place inside the board is refused with a reason, and what was shown stays.
  const paths = await text(page, "paths");
  const at = [await page.locator("#box-x").inputValue(), await page.locator("#box-y").inputValue()];
  await page.locator("#rx-x").fill(at[0]);
  await page.locator("#rx-y").fill(at[1]);
  await page.waitForFunction(() => document.getElementById("message").textContent.includes("inside box"));
  assert.ok((await text(page, "paths")).length > 0 && paths.length > 0);
  await context.close();
  await server.stop();
});

test("exports open from disk, from the command line and from the page", async () => {
  magnetar("view", "lab_left", "--export", "export.html");
  const server = await serve("lab");
  const context = await chrome.newContext({ acceptDownloads: true, viewport: { width: 1400, height: 1000 } });
  const live = await open(context, server.address);
  const [download] = await Promise.all([live.page.waitForEvent("download"), live.page.locator("#export").click()]);
  writeFileSync(join(folder, "page-export.html"), readFileSync(await download.path()));
  live.check();
  await server.stop();
  for (const name of ["export.html", "page-export.html"]) {
    const { page, check } = await open(context, pathToFileURL(join(folder, name)).href);
    assert.equal(await chartsHaveData(page), 4);
    assert.ok(await page.locator("#offline").isVisible());
    assert.ok(await page.locator("#tx-x").isDisabled());
    check();
  }
  await context.close();
});
