// The interactive page: it follows what is dragged, and needs nothing but its own server.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { browser, chartsHaveData, faintTexts, folder, magnetar, open, overflows, serve } from "./harness.mjs";
import { changes, drag, markup, settled, step, text } from "./steps.mjs";

const LINK = ["--tx", "2.5,2,1.08,-120", "--rx", "0.5,-2,1.08,60"];

let chrome;
before(async () => { chrome = await browser(); });
after(async () => { await chrome.close(); });

const box = (page, selector) => page.locator(selector).evaluate((element) => {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  return { left, top, right, bottom };
});

// Pixels of ink on the outermost frame of a canvas: a drawing that fits leaves none.
const inkAtEdge = (page, id) => page.locator("#" + id).evaluate((canvas) => {
  const { width, height } = canvas, { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  let ink = 0;
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) {
    if ((x < 3 || y < 3 || x >= width - 3 || y >= height - 3) && data[4 * (y * width + x) + 3] > 0) ink++;
  }
  return ink;
});

test("the page fits and reads well at every width, light and dark", async () => {
  const server = await serve("lab_middle", ...LINK, "--max-order", "2", "--transmission");
  for (const colorScheme of ["light", "dark"]) {
    for (const [width, height] of [[900, 900], [1280, 900], [1440, 900], [1920, 1080]]) {
      const about = width + " px, " + colorScheme;
      const context = await chrome.newContext({ colorScheme, viewport: { width, height } });
      const { page, check } = await open(context, server.address);
      assert.equal(await chartsHaveData(page), 4, about);
      assert.ok((await page.locator("#paths tr").count()) >= 12, about);
      assert.deepEqual(await overflows(page), [], about);
      assert.deepEqual(await faintTexts(page), [], about);
      const [plan, posterior] = [await box(page, "#plan"), await box(page, "#posterior")];
      assert.ok(plan.right <= posterior.left && Math.abs(plan.top - posterior.top) < 40, about + ": plan and posterior side by side");
      if (width === 1440) {
        for (const id of ["channel", "delay", "controls", "plan", "posterior"]) {
          assert.ok((await box(page, "#" + id)).bottom <= height, about + ": " + id + " ends at " + (await box(page, "#" + id)).bottom);
        }
      }
      assert.equal(await inkAtEdge(page, "room3d"), 0, about + ": the room leaves its frame");
      await page.locator("#tab-volume").click();
      assert.equal(await inkAtEdge(page, "volume"), 0, about + ": the volume leaves its frame");
      assert.deepEqual(await overflows(page), [], about + ", volume");
      check();
      await context.close();
    }
  }
  const end = await server.stop();
  assert.ok(end.signal === "SIGINT" || end.code === 0 || end.code === 130, JSON.stringify(end));
});

test("dragging, turning, boards and materials move paths and posterior", async () => {
  const server = await serve("lab_middle", ...LINK);
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 } });
  const { page, check } = await open(context, server.address);
  await step(page, () => drag(page, [2.5, 2], [3.2, -1]), ["paths", "plan", "channel", "delay", "arrivals", "posterior"]);
  assert.ok(Math.abs(Number(await page.locator("#tx-x").inputValue()) - 3.2) < 0.1);
  assert.ok(Math.abs(Number(await page.locator("#tx-y").inputValue()) + 1) < 0.1);
  await step(page, () => page.locator("#rx-h").fill("10"), ["paths", "channel", "posterior"]);
  await step(page, () => drag(page, [1.0225, 1], [2, -1.5]), ["plan", "posterior"]);
  assert.ok(Math.abs(Number(await page.locator("#box-y").inputValue()) + 1.5) < 0.1);
  await step(page, () => page.locator("#wall").selectOption("plasterboard"), ["paths", "channel", "posterior"]);
  await step(page, () => page.locator("#box-add").click(), ["plan"]);
  assert.equal(await page.locator("#box option").count(), 2);
  await step(page, () => page.locator("#box-remove").click(), ["plan"]);
  await step(page, () => page.locator("#colour").selectOption("surface"), ["plan"]);
  const picture = (id) => page.locator("#" + id).evaluate((canvas) => canvas.toDataURL());
  await page.locator("#tab-volume").click();
  for (const id of ["room3d", "volume"]) {
    const still = await picture(id);
    await page.locator("#" + id).focus();
    await page.keyboard.press("ArrowLeft");
    const turned = await picture(id);
    assert.notEqual(turned, still, "the arrow keys turn " + id);
    await page.locator("#" + id).scrollIntoViewIfNeeded();
    const { left, top } = await box(page, "#" + id);
    await page.mouse.move(left + 100, top + 100);
    await page.mouse.down();
    await page.mouse.move(left + 160, top + 130, { steps: 3 });
    await page.mouse.up();
    assert.notEqual(await picture(id), turned, "the mouse turns " + id);
  }
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

test("a drag is followed by its picture in less than a tenth of a second", async () => {
  const server = await serve("lab_middle", ...LINK);
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 } });
  const { page } = await open(context, server.address);
  // From each move of the mouse to the first frame with a new plan; and, as a measure of how busy the machine is, from a request
  // that is refused at once to the frame after it.
  const [times, idle] = await page.evaluate(async () => {
    const idle = [];
    const plan = document.getElementById("plan"), times = [];
    const svg = plan.querySelector("svg"), result = JSON.parse(document.getElementById("start").textContent).result, f = result.plan_frame;
    const matrix = svg.getScreenCTM();
    const at = (x, y) => new DOMPoint(f.area[0] + (x - f.x_m[0]) / (f.x_m[1] - f.x_m[0]) * f.area[2], f.area[1] + (f.y_m[1] - y) / (f.y_m[1] - f.y_m[0]) * f.area[3]).matrixTransform(matrix);
    const send = (type, x, y) => {
      const { x: clientX, y: clientY } = at(x, y);
      plan.dispatchEvent(new PointerEvent(type, { clientX, clientY, pointerId: 1, bubbles: true, cancelable: true }));
    };
    plan.setPointerCapture = () => {};
    send("pointerdown", 2.5, 2);
    for (let n = 1; n <= 40; n++) {
      const old = plan.querySelector("svg");
      const began = performance.now();
      send("pointermove", 2.5 + 0.01 * n, 2 - 0.05 * n);
      while (plan.querySelector("svg") === old) await new Promise((done) => setTimeout(done, 1));
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      times.push(performance.now() - began);
      const asked = performance.now();
      await fetch("/icon.svg").catch(() => null);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      idle.push(performance.now() - asked);
    }
    send("pointerup", 2.9, 0);
    return [times, idle].map((all) => all.sort((a, b) => a - b));
  });
  console.log("drag to picture: median " + times[20].toFixed(1) + " ms, 90 % " + times[36].toFixed(1) + " ms; an empty request " + idle[20].toFixed(1) + " ms");
  // On a machine that does nothing else an empty request takes one frame, 17 ms or so: 100 ms are six of them.
  assert.ok(times[20] < Math.max(100, 6 * idle[20]), times.map((t) => t.toFixed(0)).join(" "));
  await context.close();
  await server.stop();
});

test("exports open from disk, from the command line and from the page, and speak of nothing that cannot be done", async () => {
  magnetar("view", "lab_left", "--export", "export.html");
  const server = await serve("lab");
  const context = await chrome.newContext({ acceptDownloads: true, viewport: { width: 1280, height: 900 } });
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
    const words = await page.locator("body").innerText();
    assert.ok(!/\bdrag|undo|copy as command|copy link/i.test(words), words.match(/.*(drag|undo|copy).*/i)?.[0]);
    assert.deepEqual(await overflows(page), []);
    assert.deepEqual(await faintTexts(page), []);
    await page.locator("#tab-volume").click();
    assert.ok(await page.locator("#volume").isVisible());
    check();
  }
  await context.close();
});
