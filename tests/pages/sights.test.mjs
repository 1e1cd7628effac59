// What the view shows besides: the floor's map, paths that light up, keys, play, fused views, scorers, orders, and its states.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, folder, open, serve } from "./harness.mjs";
import { changes, markup, settled, step, text } from "./steps.mjs";

let chrome;
before(async () => { chrome = await browser(); });
after(async () => { await chrome.close(); });

const LINK = ["--tx", "2.5,2,1.08,-120", "--rx", "0.5,-2,1.08,60"];
const size = { width: 1440, height: 900 };
const value = (page, id) => page.locator("#" + id).inputValue();
const mass = (page) => page.evaluate(() => document.getElementById("posterior-caption").textContent);

test("the floor's map, hover linking, keys, play, views, scorers and orders", async () => {
  const server = await serve("lab_middle", ...LINK);
  const context = await chrome.newContext({ viewport: size });
  const { page, check } = await open(context, server.address);
  // The map of the floor, computed natively in less than a second.
  const began = Date.now();
  await page.locator("#floor-layer").selectOption("snr");
  await page.locator("#plan #floor-map").waitFor();
  assert.ok(Date.now() - began < 3000, "the map took " + (Date.now() - began) + " ms");
  assert.match(await text(page, "floor-caption"), /100 × 100 places/);
  const snr = await page.locator("#floor-map").getAttribute("href");
  await page.locator("#floor-layer").selectOption("los");
  await page.waitForFunction((old) => document.querySelector("#floor-map")?.getAttribute("href") !== old, snr);
  assert.match(await text(page, "floor-caption"), /direct path is free \((\d+) % of the floor\)/);
  await page.locator("#floor-layer").selectOption("none");
  assert.equal(await page.locator("#floor-map").count(), 0);
  // A path lights up everywhere.
  const lit = () => page.evaluate(() => Object.fromEntries(["plan", "delay", "paths", "arrivals"].map((id) => [id, document.querySelectorAll("#" + id + " .lit").length])));
  const room = () => page.locator("#room3d").evaluate((canvas) => canvas.toDataURL());
  const plain = await room();
  await page.locator("#paths tr").first().hover();
  const all = await lit();
  assert.ok(all.plan === 1 && all.paths === 1 && all.delay >= 2 && all.arrivals >= 1, JSON.stringify(all));
  assert.notEqual(await room(), plain);
  await page.mouse.move(2, 2);
  assert.deepEqual(Object.values(await lit()), [0, 0, 0, 0]);
  await page.locator("#delay [data-path='1'] path.hit").first().hover({ force: true });
  assert.equal((await lit()).paths, 1);
  await page.mouse.move(2, 2);
  await page.locator("#paths tr").nth(2).focus();
  assert.equal((await lit()).plan, 1, "the keyboard lights up a path, too");
  // Keys move and turn TX, RX and boards.
  const handle = (n) => page.locator("#handles .handle").nth(n);
  await step(page, async () => { await handle(0).focus(); await page.keyboard.press("ArrowRight"); }, ["plan", "paths"]);
  assert.equal(await value(page, "tx-x"), "2.55");
  await step(page, async () => { await handle(1).focus(); await page.keyboard.press("Shift+ArrowLeft"); }, ["plan"]);
  assert.equal(await value(page, "rx-h"), "65");
  await step(page, async () => { await handle(2).focus(); await page.keyboard.press("ArrowDown"); }, ["plan"]);
  assert.equal(await value(page, "box-y"), "0.95");
  // Everything can be reached with Tab.
  const missed = await page.evaluate(() => document.querySelectorAll("button, input, select, summary, canvas, #paths tr").length);
  await page.locator("body").click({ position: { x: 3, y: 3 } });
  const reached = new Set();
  for (let n = 0; n < missed + 10; n++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const all = [...document.querySelectorAll("button, input, select, summary, canvas, #paths tr")];
      return all.indexOf(document.activeElement);
    }));
  }
  const unreached = await page.evaluate((seen) => [...document.querySelectorAll("button, input, select, summary, canvas, #paths tr")]
    .filter((e, n) => e.checkVisibility() && !e.disabled && !seen.includes(n)).map((e) => e.outerHTML.slice(0, 80)), [...reached]);
  assert.deepEqual(unreached, []);
  // Play: the RX turns once around, the TX goes along a track.
  await page.locator("#play").click();
  await page.waitForFunction(() => Number(document.getElementById("play-at").value) > 0.1);
  assert.equal(await text(page, "play"), "Pause");
  await page.locator("#play").click();
  await page.waitForFunction(() => document.getElementById("play").textContent === "Play");
  assert.notEqual(await value(page, "rx-h"), "65");
  await page.locator("#play-what").selectOption("tx-track");
  await page.locator("#play-x").fill("1");
  await page.locator("#play-y").fill("2.4");
  await page.locator("#play-at").fill("1");
  assert.deepEqual([await value(page, "tx-x"), await value(page, "tx-y")], ["1", "2.4"]);
  await settled(page);
  // Several receivers, fused live.
  const alone = await mass(page);
  await step(page, () => page.locator("#receiver-add").click(), ["plan", "posterior"]);
  await step(page, () => page.locator("#receiver-add").click(), ["plan", "posterior"]);
  assert.match(await mass(page), /posterior of 3 views, fused late/);
  assert.equal(await page.locator("#handles .handle").count(), 1 + 3 + 1);
  await step(page, () => page.locator("#fused").uncheck(), ["posterior"]);
  assert.ok(!/views/.test(await mass(page)), alone);
  await page.locator("#fused").check();
  await step(page, () => page.locator("#receiver").selectOption("0"), ["paths", "channel"]);
  await page.locator("#receiver-remove").click();
  await page.waitForFunction(() => document.querySelectorAll("#receiver option").length === 2);
  await settled(page);
  // Scorers, orders of reflection, transmission.
  await step(page, () => page.locator("#scorer").selectOption("uniform"), ["posterior"]);
  assert.match(await mass(page), /uniform posterior/);
  const first = await page.locator("#paths tr").count();
  await step(page, () => page.locator("#order").selectOption("2"), ["paths"]);
  assert.ok((await page.locator("#paths tr").count()) > first);
  await step(page, () => page.locator("#order").selectOption("0"), ["paths"]);
  assert.match(await text(page, "caption"), /order 0/);
  check();
  await context.close();
  await server.stop();
});

test("states say what they are", async () => {
  const server = await serve("lab_middle", ...LINK);
  const context = await chrome.newContext({ viewport: size });
  const { page, check } = await open(context, server.address);
  // Every material that is offered can be used.
  for (const name of await page.locator("#floor option").allInnerTexts()) {
    await page.locator("#floor").selectOption(name);
    await page.waitForFunction(() => !document.querySelector("#posterior.stale"));
    assert.equal(await text(page, "message"), "", name);
  }
  await page.locator("#floor").selectOption("wood");
  // Walls of different materials are shown each.
  assert.ok(!(await page.locator("#wall0").isVisible()));
  await page.locator("#wall").selectOption("each its own");
  await step(page, () => page.locator("#wall2").selectOption("metal"), ["paths"]);
  assert.deepEqual([await value(page, "wall"), await value(page, "wall0"), await value(page, "wall2")], ["each its own", "concrete", "metal"]);
  // The address follows a moment later: only then it has both.
  await page.waitForFunction(() => location.hash.includes("wood") && location.hash.includes("metal"));
  await page.reload();
  await page.waitForFunction(() => document.getElementById("wall2").value === "metal");
  assert.ok(await page.locator("#wall2").isVisible());
  // Numbers for people.
  assert.match(await value(page, "tx-h"), /^-?\d+(\.\d)?$/);
  assert.ok(!/\d\.\d{4,}/.test(await page.locator("body").innerText()), (await page.locator("body").innerText()).match(/.*\d\.\d{4,}.*/)?.[0]);
  // One path; nothing above the noise, and why.
  await step(page, () => page.locator("#order").selectOption("0"), ["paths"]);
  assert.equal(await text(page, "pathcount"), "1 path");
  assert.match(await text(page, "caption"), /: 1 path \(/);
  await step(page, () => page.locator("#offset").fill("-90"), ["arrivals"]);
  assert.ok(!(await page.locator("#arrival-table").isVisible()));
  assert.match(await text(page, "no-arrivals"), /the strongest path has −\d+\.\d dB per bin, about −?\d+\.\d dB are needed/);
  await step(page, () => page.locator("#offset").fill("0"), ["arrivals"]);
  // Delays of paths and estimates count from one zero.
  const [path, arrival] = await page.evaluate(() => [document.querySelector("#paths tr").cells[2], document.querySelector("#arrivals tr").cells[4]].map((cell) => Number(cell.textContent)));
  assert.ok(Math.abs(path - arrival) < 1, path + " and " + arrival);
  assert.match(await text(page, "clock"), /count from the TX/);
  check();
  // A lost server is named, and found again.
  const port = new URL(server.address).port;
  await server.stop();
  await page.locator("#seed").fill("5");
  await page.waitForFunction(() => document.getElementById("message").textContent.includes("does not answer"));
  const back = await serve("lab_middle", ...LINK, "--port", port);
  const old = await markup(page, "channel");
  await changes(page, "channel", old);
  await page.waitForFunction(() => document.getElementById("message").textContent === "");
  await context.close();
  await back.stop();
});

test("a scene of one's own, with a name that is dangerous", async () => {
  writeFileSync(join(folder, "odd.toml"), `name = "<b>&'odd'</b>"
device_height_m = 1.0
[room]
x_m = [0, 4]
y_m = [0, 3]
z_m = [0, 2.5]
[surfaces]
wall = { material = "concrete", thickness_m = 0.1 }
floor = { material = "concrete", thickness_m = 0.1 }
ceiling = { material = "concrete", thickness_m = 0.1 }
`);
  const server = await serve("odd.toml", "--tx", "1,1,1", "--rx", "3,2,1,180");
  const context = await chrome.newContext({ viewport: size });
  const { page, check } = await open(context, server.address);
  assert.equal(await text(page, "title"), "<b>&'odd'</b>");
  await page.locator("#scene").selectOption("lab");
  await page.waitForFunction(() => document.getElementById("title").textContent === "lab");
  await page.goBack();
  await page.waitForFunction(() => document.getElementById("title").textContent.includes("odd"));
  check();
  await context.close();
  await server.stop();
});
