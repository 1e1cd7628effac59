// What the view lets one keep: its address, undo, commands, pictures and numbers.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { binary, browser, folder, open, serve } from "./harness.mjs";
import { drag, fragment, markup, settled, step, text } from "./steps.mjs";

let chrome, server;
before(async () => {
  chrome = await browser();
  server = await serve("lab_middle", "--tx", "2.5,2,1.08,-120", "--rx", "0.5,-2,1.08,60", "--seed", "3");
});
after(async () => { await chrome.close(); await server.stop(); });

const newPage = async (address = server.address) => {
  const context = await chrome.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, permissions: ["clipboard-read", "clipboard-write"] });
  return { context, ...(await open(context, address)) };
};
const value = (page, id) => page.locator("#" + id).inputValue();
const keptIn = (page, word) => page.waitForFunction((w) => location.hash.includes(w), word);

test("the address holds the state: reload, back, sharing and Ctrl-Z work", async () => {
  const { context, page, check } = await newPage();
  assert.equal(await fragment(page), "");
  await step(page, () => drag(page, [2.5, 2], [3, 0]), ["paths", "posterior"]);
  await keptIn(page, "tx=");
  const moved = [await value(page, "tx-x"), await value(page, "tx-y")];
  await step(page, () => page.locator("#floor").selectOption("wood"), ["paths"]);
  await keptIn(page, "surfaces=");
  await step(page, () => page.locator("#seed").fill("9"), ["channel"]);
  await keptIn(page, "seed=9");
  await page.locator("#box-add").click();
  await keptIn(page, "board=");
  await page.locator("#scorer").selectOption("uniform");
  await keptIn(page, "scorer=uniform");
  await page.locator("#theme").click();
  await keptIn(page, "theme=dark");
  await settled(page);
  const [address, plan, paths] = [page.url(), await markup(page, "plan"), await text(page, "paths")];
  const same = async (other) => {
    await other.waitForFunction((old) => document.getElementById("plan").innerHTML === old, plan);
    await settled(other);
    assert.equal(await text(other, "paths"), paths);
    assert.deepEqual([await value(other, "tx-x"), await value(other, "tx-y")], moved);
    assert.deepEqual([await value(other, "floor"), await value(other, "seed"), await value(other, "scorer")], ["wood", "9", "uniform"]);
    assert.equal(await other.evaluate(() => document.documentElement.dataset.theme), "dark");
  };
  await page.reload();
  await same(page);
  const shared = await newPage(address);
  await same(shared.page);
  shared.check();
  await shared.context.close();
  // Back step by step: the scorer, the board, the seed, the floor, the TX.
  await page.locator("#plan").click({ position: { x: 5, y: 5 } });
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.getElementById("scorer").value === "twin");
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.querySelectorAll("#box option").length === 1);
  await page.keyboard.press("Control+Shift+z");
  await page.waitForFunction(() => document.querySelectorAll("#box option").length === 2);
  await page.goBack();
  await page.waitForFunction(() => document.querySelectorAll("#box option").length === 1);
  await page.locator("#undo").click();
  await page.waitForFunction(() => document.getElementById("seed").value === "3");
  await page.locator("#undo").click();
  await page.waitForFunction(() => document.getElementById("floor").value === "marble");
  await page.locator("#undo").click();
  await page.waitForFunction(() => document.getElementById("tx-x").value === "2.5");
  assert.ok(await page.locator("#undo").isDisabled());
  await page.locator("#share").click();
  await page.waitForFunction(async (url) => (await navigator.clipboard.readText()) === url, page.url());
  check();
  // Another scene is part of the address, and addresses that make no sense do no harm.
  await page.locator("#scene").selectOption("lab_left");
  await keptIn(page, "scene=lab_left");
  await page.reload();
  await page.waitForFunction(() => document.getElementById("title").textContent === "lab_left");
  const odd = await newPage(server.address + "#tx=1,2&boards=x&board=1,2&seed=-4&order=zz&surfaces=a,b&scene=lab&view=9&shown=7");
  await odd.page.waitForFunction(() => document.getElementById("title").textContent === "lab");
  await settled(odd.page);
  odd.check();
  await odd.context.close();
  const nowhere = await newPage(server.address + "#scene=nowhere");
  await nowhere.page.waitForFunction(() => document.getElementById("message").textContent.includes("there is no scene \"nowhere\""));
  await nowhere.context.close();
  await context.close();
});

// Runs what was copied, with the binary at hand.
function shell(command, name) {
  const cwd = join(folder, name);
  mkdirSync(cwd, { recursive: true });
  return execFileSync("sh", ["-ec", command], { cwd, encoding: "utf8", env: { ...process.env, PATH: dirname(binary) + ":" + process.env.PATH } });
}

// Runs the copied commands of a page and compares what they give with what it shows.
function comparison(page) {
  const copied = async (kind) => {
    // The message of the copy before still stands: wait for what this one leaves.
    await page.evaluate(() => { delete document.body.dataset.command; });
    await page.locator("#commands summary").click();
    await page.locator(`[data-command=${kind}]`).click();
    await page.waitForFunction(() => "command" in document.body.dataset);
    return page.evaluate(() => navigator.clipboard.readText());
  };
  const shownPaths = () => page.evaluate(() => [...document.querySelectorAll("#paths tr")].map((row) => [row.cells[0].textContent, Number(row.cells[2].textContent)]));
  const numbers = (panel) => page.evaluate(async (panel) => {
    const save = new Promise((done) => { const make = URL.createObjectURL; URL.createObjectURL = (blob) => { done(blob); URL.createObjectURL = make; return make(blob); }; });
    document.querySelector(`[data-panel=${panel}] [data-save=csv]`).click();
    return (await (await save).text()).trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
  }, panel);
  return async (name) => {
    await settled(page);
    const traced = JSON.parse(shell((await copied("trace")) + " --json", name)).paths;
    const seen = await shownPaths();
    assert.deepEqual(traced.map((path) => path.surface), seen.map(([surface]) => surface), name);
    traced.forEach((path, n) => assert.ok(Math.abs(path.delay_s * 1e9 - seen[n][1]) < 0.06, name));
    const said = shell((await copied("locate")) + " --json --marginal", name);
    const located = JSON.parse(said.slice(said.indexOf("{")));
    const marginal = (await numbers("posterior")).map((row) => row[2]);
    const theirs = located.xy_marginal.flat();
    assert.equal(theirs.length, marginal.length);
    const apart = theirs.reduce((sum, mass, n) => sum + Math.abs(mass - marginal[n]), 0) / 2;
    assert.ok(apart < 1e-4, name + ": total variation " + apart);
    shell(await copied("observe"), name);
    // The npy's numbers are the channel's: header, then complex64 [1, 512, 2].
    const file = readFileSync(join(folder, name, "observation.npy"));
    const data = new Float32Array(file.buffer.slice(file.byteOffset + 10 + file.readUInt16LE(8), file.byteOffset + file.length));
    (await numbers("channel")).forEach(([, a, b], k) => {
      const db = (at) => 20 * Math.log10(Math.hypot(data[at], data[at + 1]));
      assert.ok(Math.abs(db(4 * k) - a) < 0.002 && Math.abs(db(4 * k + 2) - b) < 0.002, name + ", bin " + k);
    });
  };
}

test("what is copied as a command gives what is shown", async () => {
  const { context, page, check } = await newPage();
  const compare = comparison(page);
  await compare("plain");
  await page.locator("#order").selectOption("2");
  await page.locator("#wall").selectOption("brick");
  await page.locator("#offset").fill("1.5");
  await page.locator("#tx-z").fill("1.3");
  await step(page, () => page.locator("#transmission").check(), ["paths"]);
  await page.locator("#box-add").click();
  await page.waitForFunction(() => document.querySelectorAll("#box option").length === 2);
  await page.waitForTimeout(300);
  await compare("changed");
  check();
  await context.close();
});

test("the twin's own flags are copied, too", async () => {
  const flags = ["--twin-order", "2", "--twin-transmission", "--parameters", "field"];
  const other = await serve("lab_middle", "--tx", "2.5,2,1.08,-120", "--rx", "0.5,-2,1.08,60", ...flags);
  const { context, page, check } = await newPage(other.address);
  await comparison(page)("twin flags");
  check();
  await context.close();
  await other.stop();
});

test("every panel is saved as picture and numbers", async () => {
  const { context, page, check } = await newPage();
  await page.locator("#floor-layer").selectOption("snr");
  await page.locator("#plan #floor-map").waitFor();
  // A browser that is short of time has dropped a download without a word: who gets none saves again, twice at most.
  const saved = async (panel, kind, more = 2) => {
    const menu = page.locator(`[data-panel=${panel}] .save`);
    const coming = page.waitForEvent("download", { timeout: 30000 }).catch((error) => {
      if (more === 0) throw error;
    });
    await menu.locator("summary").click();
    await page.locator(`[data-panel=${panel}] .save[open]`).waitFor();
    await menu.locator(`[data-save=${kind}]`).click();
    const download = await coming;
    if (!download) return saved(panel, kind, more - 1);
    assert.ok(download.suggestedFilename().endsWith("." + kind));
    return readFileSync(await download.path());
  };
  const panels = { plan: 10000, posterior: 1089, channel: 512, delay: 20, room: 8, paths: 3, estimates: 1 };
  for (const [panel, least] of Object.entries(panels)) {
    const lines = (await saved(panel, "csv")).toString().trim().split("\n");
    assert.ok(lines.length - 1 >= least, panel + ": " + lines.length);
    assert.ok(lines.every((line) => line.split(",").length === lines[0].split(",").length || line.includes("\"")), panel);
    if (panel === "paths" || panel === "estimates") continue;
    const svg = (await saved(panel, "svg")).toString();
    assert.ok(svg.startsWith("<svg xmlns=") && !/var\(--|NaN|undefined/.test(svg), panel);
    const png = await saved(panel, "png");
    assert.equal(png.subarray(1, 4).toString(), "PNG", panel);
    assert.ok(png.length > 5000, panel + ": " + png.length);
  }
  await page.locator("#tab-volume").click();
  assert.ok((await saved("posterior", "csv")).toString().startsWith("x_m,y_m,heading_deg,mass\n"));
  assert.ok((await saved("posterior", "svg")).toString().includes("HPD"));
  check();
  await context.close();
});
