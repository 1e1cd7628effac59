"use strict";
// Tables, charts and controls beside the room.

function cell(row, text) {
  const td = row.insertCell();
  td.textContent = text;
  return td;
}

function showResult() {
  const result = view.result;
  byId("caption").textContent = result.caption;
  byId("plan").innerHTML = result.plan_svg;
  for (const [id, svg] of [["channel", result.channel_svg], ["delay", result.delay_svg]]) {
    byId(id).innerHTML = svg || "";
    byId(id).parentElement.hidden = !svg;
  }
  widen("plan");
  widen("delay");
  showPaths(result.paths);
  showArrivals(result);
  showPosterior();
  showNotes();
  showFloor();
  showHandles();
  draw3d();
  light(view.lit);
}

// Thin and dashed lines of paths are hard to hit: an invisible wide one lies over each.
function widen(id) {
  for (const line of byId(id).querySelectorAll("[data-path] path:first-of-type")) {
    const wide = line.cloneNode();
    wide.setAttribute("class", "hit");
    wide.setAttribute("stroke", "transparent");
    wide.setAttribute("stroke-width", "11");
    wide.removeAttribute("stroke-dasharray");
    line.after(wide);
  }
}

function showNotes() {
  byId("notes").replaceChildren(...view.result.notes.map((note) => {
    const item = document.createElement("li");
    item.textContent = note;
    return item;
  }));
}

function showPosterior() {
  const result = view.result, volume = view.tab === "volume";
  byId("posterior").innerHTML = result.posterior_svg || "";
  byId("posterior").hidden = volume || !result.posterior_svg;
  byId("volume").hidden = !volume || !result.posterior;
  byId("volume-caption").hidden = byId("volume").hidden;
  byId("no-posterior").hidden = Boolean(result.posterior_svg);
  byId("no-posterior").textContent = result.posterior_svg ? "" : result.notes.find((note) => /posterior/i.test(note)) || "Being computed.";
  byId("posterior-caption").textContent = result.posterior_caption;
  for (const name of ["marginal", "volume"]) byId("tab-" + name).setAttribute("aria-selected", String(view.tab === name));
  draw3dVolume();
}

function showPaths(paths) {
  const body = byId("paths");
  const old = document.activeElement?.closest?.("#paths tr")?.dataset.path;
  body.replaceChildren();
  paths.forEach((path, n) => {
    const row = body.insertRow();
    row.dataset.path = n;
    row.tabIndex = 0;
    const first = cell(row, "");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "swatch");
    svg.setAttribute("viewBox", "0 0 30 10");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [name, value] of [["d", "M0 5H30"], ["stroke", path.colour], ["stroke-width", "3"], ["stroke-dasharray", path.dash]]) line.setAttribute(name, value);
    svg.append(line);
    first.className = "surface";
    first.append(svg);
    // A name breaks between surfaces, not within one.
    path.surface.split(" ").forEach((name, k) => {
      const span = document.createElement("span");
      span.textContent = name;
      first.append(k ? " " : "", span);
    });
    cell(row, shown(path.raw_snr_db, 1));
    cell(row, shown(path.delay_ns, 1));
    cell(row, shown(path.aoa_deg[0], 0) + ", " + shown(path.aoa_deg[1], 0));
    cell(row, shown(path.aod_deg[0], 0) + ", " + shown(path.aod_deg[1], 0));
  });
  if (old !== undefined) body.rows[Number(old)]?.focus();
  byId("pathcount").textContent = paths.length === 1 ? "1 path" : paths.length + " paths";
}

function showArrivals(result) {
  const body = byId("arrivals");
  body.replaceChildren();
  const found = result.arrivals.map((arrival, n) => [(n + 1) + (n < result.retained ? " (kept)" : ""), arrival, n]);
  const predicted = result.predicted.map((arrival, n) => ["predicted " + (n + 1), arrival, null]);
  for (const [name, arrival, n] of [...found, ...predicted]) {
    const row = body.insertRow();
    if (arrival.path !== null) { row.dataset.path = arrival.path; row.tabIndex = 0; }
    if (n !== null) row.dataset.arrival = n;
    cell(row, name);
    cell(row, shown(arrival.raw_snr_db, 1));
    cell(row, shown(arrival.snr_db, 1));
    cell(row, shown(arrival.aoa_deg, 1));
    cell(row, shown(arrival.delay_ns, 1));
  }
  const none = result.arrivals.length === 0;
  byId("arrival-table").hidden = none && !result.predicted.length;
  byId("no-arrivals").hidden = !none;
  byId("no-arrivals").textContent = none ? result.no_arrivals : "";
  byId("clock").hidden = none;
  byId("clock").textContent = "Delays count from the TX, as those of the paths do: " + (start.measured
    ? "the receiver's clock is set so that the strongest arrival meets the strongest path."
    : "the receiver's clock, " + shown(result.clock_offset_ns, 1) + " ns late, is taken off.");
}

const NUMBERS = {
  "tx-x": [() => view.state.tx.position_m, 0, 3], "tx-y": [() => view.state.tx.position_m, 1, 3], "tx-z": [() => view.state.tx.position_m, 2, 3],
  "tx-h": [() => view.state.tx, "heading_deg", 1],
  "rx-x": [() => receiver().position_m, 0, 3], "rx-y": [() => receiver().position_m, 1, 3], "rx-z": [() => receiver().position_m, 2, 3],
  "rx-h": [() => receiver(), "heading_deg", 1],
  "box-x": [() => view.state.boxes[view.selected]?.center_m, 0, 3], "box-y": [() => view.state.boxes[view.selected]?.center_m, 1, 3],
  "box-yaw": [() => view.state.boxes[view.selected], "yaw_deg", 1], "box-w": [() => view.state.boxes[view.selected]?.size_m, 0, 3],
  "offset": [() => view.state, "tx_power_offset_db", 2], "seed": [() => view.state, "seed", 0],
};
const surfaces = (...places) => () => places.map((n) => view.state.surfaces[n]);
// Order of Face::ALL: the four walls, the floor, the ceiling.
const MATERIALS = {
  "wall": surfaces(0, 1, 2, 3), "wall0": surfaces(0), "wall1": surfaces(1), "wall2": surfaces(2), "wall3": surfaces(3),
  "floor": surfaces(4), "ceiling": surfaces(5), "box-material": () => [view.state.boxes[view.selected]?.layer].filter(Boolean),
};
const CHOICES = { "colour": "colour", "scorer": "scorer" };
const SWITCHED = { "transmission": "transmission", "fused": "fused" };
const EACH = "each its own";

// Fills the controls from the state; what is being typed in is left alone unless asked for.
function showDevices(all = false) {
  const state = view.state, live = start.live;
  view.selected = Math.min(view.selected, Math.max(state.boxes.length - 1, 0));
  const none = state.boxes.length === 0;
  for (const [id, [owner, key, digits]] of Object.entries(NUMBERS)) {
    const input = byId(id), target = owner();
    input.disabled = !live || !target;
    if (all || document.activeElement !== input) input.value = target ? round(target[key], digits) : "";
  }
  for (const [id, layers] of Object.entries(MATERIALS)) {
    const select = byId(id), names = new Set(layers().map((l) => l.material));
    select.disabled = !live || names.size === 0;
    // A material that cannot be chosen is still shown where it stands.
    for (const name of names) if (![...select.options].some((option) => option.value === name)) select.append(new Option(name, name));
    select.value = names.size === 1 ? [...names][0] : names.size ? EACH : "";
  }
  const mixed = byId("wall").value === EACH;
  document.querySelectorAll(".one-wall").forEach((label) => { label.hidden = !mixed && !view.wallsApart; });
  const fill = (select, names, value) => {
    const wanted = JSON.stringify(names);
    if (select.dataset.names !== wanted) select.replaceChildren(...names.map((name, n) => new Option(name, n)));
    select.dataset.names = wanted;
    select.value = value;
  };
  fill(byId("box"), state.boxes.map((box, n) => box.name || "box " + n), none ? "" : String(view.selected));
  byId("box").disabled = none;
  byId("box-remove").disabled = !live || none;
  byId("box-add").disabled = !live || state.boxes.length >= 2000;
  fill(byId("receiver"), receivers().map((_, n) => "RX " + (n + 1)), String(state.shown));
  byId("receiver-label").hidden = byId("fused-label").hidden = state.views.length === 0;
  byId("receiver-buttons").hidden = !live || start.receivers === 1;
  byId("receiver-add").disabled = receivers().length >= start.receivers;
  byId("receiver-remove").disabled = state.views.length === 0;
  for (const [id, key] of Object.entries(CHOICES)) { byId(id).value = state[key]; byId(id).disabled = !live; }
  for (const [id, key] of Object.entries(SWITCHED)) { byId(id).checked = state[key]; byId(id).disabled = !live; }
  byId("order").value = String(state.max_order);
  byId("order").disabled = !live;
  byId("scene").value = view.base.scene;
  byId("scene").disabled = !live;
  if (live) {
    byId("floor-layer").value = view.floor;
    showPlay();
  }
  showHandles();
}

function addBox() {
  const [x0, x1, y0, y1, z0, z1] = view.state.room_m;
  const last = view.state.boxes[view.selected];
  const size = last ? [...last.size_m] : [1.0, 0.033, Math.min(1.27, 0.8 * (z1 - z0))];
  const layer = last ? { ...last.layer } : { material: start.materials.includes("glass") ? "glass" : start.materials[0], thickness_m: 0.033 };
  const center = [round((x0 + x1) / 2, 3), round((y0 + y1) / 2, 3), last ? last.center_m[2] : round(Math.min(1.08, (z0 + z1) / 2), 3)];
  view.state.boxes.push({ name: "board " + (view.state.boxes.length + 1), center_m: center, size_m: size, yaw_deg: 0, layer });
  view.selected = view.state.boxes.length - 1;
  changed();
}

function removeBox() {
  view.state.boxes.splice(view.selected, 1);
  changed();
}

// Another receiver, on the other side of the room, facing its middle.
function addReceiver() {
  const [x0, x1, y0, y1] = view.state.room_m, last = receiver(), n = receivers().length;
  const angle = 2.4 * n, middle = [(x0 + x1) / 2, (y0 + y1) / 2];
  const place = inside([middle[0] + 0.3 * (x1 - x0) * Math.cos(angle), middle[1] + 0.3 * (y1 - y0) * Math.sin(angle)], 0.1);
  const heading = round(wrapDegrees(Math.atan2(view.state.tx.position_m[1] - place[1], view.state.tx.position_m[0] - place[0]) * 180 / Math.PI), 1);
  view.state.views.push({ position_m: [...place, last.position_m[2]], heading_deg: heading });
  view.state.shown = n;
  changed();
}

function removeReceiver(n = view.state.shown) {
  if (!view.state.views.length) return;
  if (n === 0) view.state.rx = view.state.views.shift();
  else view.state.views.splice(n - 1, 1);
  view.state.shown = Math.min(view.state.shown, view.state.views.length);
  changed();
}

function wirePanels() {
  for (const [id, [owner, key]] of Object.entries(NUMBERS)) {
    byId(id).addEventListener("input", (event) => {
      const value = event.target.valueAsNumber, target = owner();
      if (!Number.isFinite(value) || !target) return;
      target[key] = id === "seed" ? Math.min(4294967295, Math.max(0, Math.round(value))) : value;
      changed();
    });
    byId(id).addEventListener("blur", () => showDevices());
  }
  for (const [id, layers] of Object.entries(MATERIALS)) {
    const names = id === "wall" ? [...start.materials, EACH] : start.materials;
    byId(id).append(...names.map((name) => new Option(name, name)));
    byId(id).addEventListener("change", (event) => {
      if (id === "wall") view.wallsApart = event.target.value === EACH;
      if (event.target.value !== EACH) for (const layer of layers()) layer.material = event.target.value;
      changed();
      if (view.wallsApart && id === "wall") byId("wall").value = EACH;
    });
  }
  byId("scorer").append(...start.scorers.map((name) => new Option(name, name)));
  for (const [id, key] of Object.entries(CHOICES)) byId(id).addEventListener("change", (event) => { view.state[key] = event.target.value; changed(); });
  for (const [id, key] of Object.entries(SWITCHED)) byId(id).addEventListener("change", (event) => { view.state[key] = event.target.checked; changed(); });
  byId("order").addEventListener("change", (event) => { view.state.max_order = Number(event.target.value); changed(); });
  byId("box").addEventListener("change", (event) => { view.selected = Number(event.target.value); showDevices(); });
  byId("box-add").addEventListener("click", addBox);
  byId("box-remove").addEventListener("click", removeBox);
  byId("receiver").addEventListener("change", (event) => { view.state.shown = Number(event.target.value); changed(); });
  byId("receiver-add").addEventListener("click", addReceiver);
  byId("receiver-remove").addEventListener("click", () => removeReceiver());
  byId("scene-choice").hidden = start.scenes.length < 2;
  byId("scene").append(...start.scenes.map((name) => new Option(name, name)));
  byId("scene").addEventListener("change", (event) => goTo({ scene: event.target.value, row: null }));
  for (const tab of ["marginal", "volume"]) {
    byId("tab-" + tab).addEventListener("click", () => { view.tab = tab; showPosterior(); note(); });
  }
  byId("measured-word").hidden = start.measured;
}
