"use strict";
// The state lives in the address, as differences from the scene or row it began with: reload, back, and sharing work.

const number = (v) => String(Number(v.toFixed(6)));
const poseWords = (p) => [...p.position_m, p.heading_deg].map(number).join(",");
// A layer's thickness, and behind an @ its level where it is not the material's.
const depth = (layer) => number(layer.thickness_m) + (layer.reflection_db ? "@" + number(layer.reflection_db) : "");
function layerOf(material, word) {
  const [thickness, level] = word.split("@").map((number) => Number(number) || 0);
  return level ? { material, thickness_m: thickness, reflection_db: level } : { material, thickness_m: thickness };
}
const boxWords = (b) => [b.name, ...b.center_m.map(number), ...b.size_m.map(number), number(b.yaw_deg), b.layer.material, depth(b.layer)]
  .map((word) => word.replaceAll(",", " ")).join(",");
const surfaceWords = (s) => s.map((layer) => layer.material + "," + depth(layer)).join(",");
const rowWords = (row) => row.split + "," + row.index;
const SCALARS = { offset: "tx_power_offset_db", seed: "seed", order: "max_order", shown: "shown" };
const WORDS = { scorer: "scorer", colour: "colour" };
const SWITCHES = { through: "transmission", fused: "fused" };

// The fragment that stands for what is shown; empty for what the server began with.
function fragment() {
  const pairs = [], state = view.state, base = view.baseState;
  const add = (key, value) => pairs.push(key + "=" + encodeURIComponent(value).replace(/%2C/g, ",").replace(/%20/g, "+"));
  if (view.base.scene !== start.state.scene && !start.dataset) add("scene", view.base.scene);
  if (start.dataset && rowWords(view.base.row) !== rowWords(start.dataset.row)) add("row", rowWords(view.base.row));
  if (start.dataset && !view.row) add("changed", "1");
  for (const name of ["tx", "rx"]) if (poseWords(state[name]) !== poseWords(base[name])) add(name, poseWords(state[name]));
  for (const pose of state.views) add("view", poseWords(pose));
  const boxes = (all) => all.map(boxWords).join(";");
  if (boxes(state.boxes) !== boxes(base.boxes)) {
    add("boards", state.boxes.length);
    for (const box of state.boxes) add("board", boxWords(box));
  }
  if (surfaceWords(state.surfaces) !== surfaceWords(base.surfaces)) add("surfaces", surfaceWords(state.surfaces));
  for (const [key, name] of Object.entries(SCALARS)) if (state[name] !== base[name]) add(key, number(state[name]));
  for (const [key, name] of Object.entries(WORDS)) if (state[name] !== base[name]) add(key, state[name]);
  for (const [key, name] of Object.entries(SWITCHES)) if (state[name] !== base[name]) add(key, state[name] ? "1" : "0");
  if (view.theme) add("theme", view.theme);
  if (view.tab !== "marginal") add("tab", view.tab);
  if (view.floor !== "none") add("map", view.floor);
  return pairs.length ? "#" + pairs.join("&") : "";
}

// Puts what a fragment says into a state; what makes no sense is left out, the server refuses the rest.
function applyFragment(query, state) {
  const numbers = (text, count) => {
    const all = text.split(",").map(Number);
    return all.length === count && all.every(Number.isFinite) ? all : null;
  };
  const pose = (text) => {
    const all = numbers(text, 4);
    return all && { position_m: all.slice(0, 3), heading_deg: all[3] };
  };
  for (const name of ["tx", "rx"]) state[name] = (query.has(name) && pose(query.get(name))) || state[name];
  if (query.has("view")) state.views = query.getAll("view").map(pose).filter(Boolean).slice(0, start.receivers - 1);
  if (query.has("boards")) {
    state.boxes = query.getAll("board").map((text) => {
      const words = text.split(","), size = words.slice(1, 8).map(Number);
      if (words.length !== 10 || ![...size, ...words[9].split("@").map(Number)].every(Number.isFinite)) return null;
      return { name: words[0], center_m: size.slice(0, 3), size_m: size.slice(3, 6), yaw_deg: size[6], layer: layerOf(words[8], words[9]) };
    }).filter(Boolean);
  }
  const words = (query.get("surfaces") || "").split(",");
  if (words.length === 12) state.surfaces = [0, 2, 4, 6, 8, 10].map((n) => layerOf(words[n], words[n + 1]));
  for (const [key, name] of Object.entries(SCALARS)) {
    const value = Number(query.get(key));
    if (query.has(key) && Number.isFinite(value)) state[name] = key === "offset" ? value : Math.max(0, Math.round(value));
  }
  state.shown = Math.min(state.shown, state.views.length);
  for (const [key, name] of Object.entries(WORDS)) if (query.has(key)) state[name] = query.get(key);
  for (const [key, name] of Object.entries(SWITCHES)) if (query.has(key)) state[name] = query.get(key) === "1";
}

// Shows what the address says.
async function restore() {
  const query = new URLSearchParams(location.hash.slice(1));
  [view.theme, view.tab, view.floor] = [query.get("theme"), query.get("tab") === "volume" ? "volume" : "marginal", query.get("map") || "none"];
  setTheme(view.theme);
  try {
    if (start.dataset) {
      const [split, index] = (query.get("row") || rowWords(start.dataset.row)).split(",");
      await begin({ scene: start.state.scene, row: { split, index: Number(index) || 0 } });
    } else {
      await begin({ scene: query.get("scene") || start.state.scene, row: null });
    }
  } catch (error) {
    failed(error);
    return;
  }
  const before = JSON.stringify(view.state);
  applyFragment(query, view.state);
  if (JSON.stringify(view.state) !== before || query.has("changed")) view.row = null;
  showAll();
  showDevices(true);
  if (!view.row) refresh();
}

// Begins anew with a scene or a row; the server's first answer is at hand.
async function begin(base) {
  const first = start.dataset ? rowWords(base.row) === rowWords(start.dataset.row) : base.scene === start.state.scene;
  let answer = { state: start.state, result: start.result };
  if (!first) answer = await (await post(start.dataset ? "/api/row" : "/api/scene", base.row || { scene: base.scene })).json();
  Object.assign(view, { state: copy(answer.state), result: { ...answer.result }, baseState: copy(answer.state), base, row: base.row, selected: 0 });
}

// Begins anew and shows it, as a step of its own.
async function goTo(base) {
  try {
    await begin(base);
    say("");
    showAll();
    showDevices(true);
    remember();
  } catch (error) {
    failed(error);
  }
}

let remembering = null;
// A step that Ctrl-Z goes back to; changes that follow at once belong to it.
function rememberSoon() {
  clearTimeout(remembering);
  remembering = setTimeout(remember, 350);
}

function remember() {
  clearTimeout(remembering);
  remembering = null;
  if (!start.live || fragment() === location.hash) return;
  const depth = (history.state?.depth || 0) + 1;
  history.pushState({ depth }, "", fragment() || location.pathname);
  showHistory(depth);
}

// A look of the page that is no step of its own.
function note() {
  if (start.live) history.replaceState(history.state, "", fragment() || location.pathname);
}

let deepest = 0;
function showHistory(depth = history.state?.depth || 0) {
  deepest = Math.max(deepest, depth);
  byId("undo").disabled = depth === 0;
  byId("redo").disabled = depth >= deepest;
}

function undo() {
  if (remembering) remember();
  if (history.state?.depth) history.back();
}

function wireAddress() {
  if (!start.live) return;
  window.addEventListener("popstate", () => { clearTimeout(remembering); remembering = null; showHistory(); restore(); });
  window.addEventListener("hashchange", () => { if (fragment() !== location.hash) restore(); });
  byId("undo").addEventListener("click", undo);
  byId("redo").addEventListener("click", () => history.forward());
  byId("share").addEventListener("click", () => { note(); copyText(location.href, "The link to what is shown is copied."); });
  document.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || (key !== "z" && key !== "y")) return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) history.forward();
    else undo();
  });
  showHistory();
  if (location.hash) restore();
}

async function copyText(text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the clipboard's permission: an invisible field can still be copied from.
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say(done);
}
