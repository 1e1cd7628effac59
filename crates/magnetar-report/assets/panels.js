"use strict";
// Tables, charts and controls beside the room.

function cell(row, text, title) {
  const td = row.insertCell();
  td.textContent = text;
  if (title) td.title = title;
  return td;
}

function showResult() {
  const result = view.result;
  byId("caption").textContent = result.caption;
  byId("posterior-caption").textContent = result.posterior_caption;
  byId("plan").innerHTML = result.plan_svg;
  for (const [id, svg] of [["channel", result.channel_svg], ["delay", result.delay_svg], ["posterior", result.posterior_svg]]) {
    byId(id).innerHTML = svg || "";
    byId(id).parentElement.hidden = !svg;
  }
  const notes = byId("notes");
  notes.replaceChildren(...result.notes.map((note) => {
    const item = document.createElement("li");
    item.textContent = note;
    return item;
  }));
  showPaths(result.paths);
  showArrivals(result);
  draw3d();
}

function showPaths(paths) {
  const body = byId("paths");
  body.replaceChildren();
  for (const path of paths) {
    const row = body.insertRow();
    const first = cell(row, "");
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "swatch");
    svg.setAttribute("viewBox", "0 0 30 10");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    for (const [name, value] of [["d", "M0 5H30"], ["stroke", path.colour], ["stroke-width", "3"], ["stroke-dasharray", path.dash]]) line.setAttribute(name, value);
    svg.append(line);
    first.append(svg, path.surface);
    cell(row, shown(path.raw_snr_db, 1));
    cell(row, shown(path.delay_ns, 2));
    cell(row, shown(path.aoa_deg[0], 1) + ", " + shown(path.aoa_deg[1], 1));
    cell(row, shown(path.aod_deg[0], 1) + ", " + shown(path.aod_deg[1], 1));
  }
  byId("pathcount").textContent = String(paths.length);
}

function showArrivals(result) {
  const body = byId("arrivals");
  body.replaceChildren();
  const measured = result.arrivals.map((arrival, n) => [(n + 1) + (n < result.retained ? " (kept)" : ""), arrival]);
  const predicted = result.predicted.map((arrival, n) => ["predicted " + (n + 1), arrival]);
  for (const [name, arrival] of [...measured, ...predicted]) {
    const row = body.insertRow();
    cell(row, name);
    cell(row, shown(arrival.raw_snr_db, 1));
    cell(row, shown(arrival.snr_db, 1));
    cell(row, shown(arrival.aoa_deg, 1));
    cell(row, shown(arrival.delay_ns, 2));
  }
}

const NUMBERS = {
  "tx-x": [() => view.state.tx.position_m, 0], "tx-y": [() => view.state.tx.position_m, 1], "tx-z": [() => view.state.tx.position_m, 2],
  "tx-h": [() => view.state.tx, "heading_deg"],
  "rx-x": [() => view.state.rx.position_m, 0], "rx-y": [() => view.state.rx.position_m, 1], "rx-z": [() => view.state.rx.position_m, 2],
  "rx-h": [() => view.state.rx, "heading_deg"],
  "box-x": [() => view.state.boxes[view.selected]?.center_m, 0], "box-y": [() => view.state.boxes[view.selected]?.center_m, 1],
  "box-yaw": [() => view.state.boxes[view.selected], "yaw_deg"], "box-w": [() => view.state.boxes[view.selected]?.size_m, 0],
  "offset": [() => view.state, "tx_power_offset_db"], "seed": [() => view.state, "seed"],
};
const WALLS = [0, 1, 2, 3], FLOOR = [4], CEILING = [5]; // order of Face::ALL
const MATERIALS = {
  "wall": () => WALLS.map((n) => view.state.surfaces[n]), "floor": () => FLOOR.map((n) => view.state.surfaces[n]),
  "ceiling": () => CEILING.map((n) => view.state.surfaces[n]), "box-material": () => [view.state.boxes[view.selected]?.layer].filter(Boolean),
};

// Fills the controls from the state.
function showDevices() {
  view.selected = Math.min(view.selected, Math.max(view.state.boxes.length - 1, 0));
  const none = view.state.boxes.length === 0;
  for (const [id, [owner, key]] of Object.entries(NUMBERS)) {
    const input = byId(id), target = owner();
    input.disabled = !start.live || !target;
    if (document.activeElement !== input) input.value = target ? round(target[key], 3) : "";
  }
  for (const [id, layers] of Object.entries(MATERIALS)) {
    const select = byId(id), names = new Set(layers().map((l) => l.material));
    select.disabled = !start.live || names.size === 0;
    select.value = names.size === 1 ? [...names][0] : "";
  }
  const chooser = byId("box");
  const options = view.state.boxes.map((box, n) => new Option(box.name || "box " + n, n));
  chooser.replaceChildren(...options);
  chooser.value = none ? "" : String(view.selected);
  chooser.disabled = none;
  byId("box-remove").disabled = !start.live || none;
  byId("box-add").disabled = !start.live || view.state.boxes.length >= 2000;
  byId("colour").value = view.state.colour;
  byId("colour").disabled = !start.live;
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

function wirePanels() {
  for (const [id, [owner, key]] of Object.entries(NUMBERS)) {
    byId(id).addEventListener("input", (event) => {
      const value = event.target.valueAsNumber, target = owner();
      if (!Number.isFinite(value) || !target) return;
      target[key] = id === "seed" ? Math.min(4294967295, Math.max(0, Math.round(value))) : value;
      changed();
    });
    byId(id).addEventListener("blur", showDevices);
  }
  for (const [id, layers] of Object.entries(MATERIALS)) {
    byId(id).append(...start.materials.map((name) => new Option(name, name)));
    byId(id).addEventListener("change", (event) => {
      for (const layer of layers()) layer.material = event.target.value;
      changed();
    });
  }
  byId("box").addEventListener("change", (event) => { view.selected = Number(event.target.value); showDevices(); });
  byId("box-add").addEventListener("click", addBox);
  byId("box-remove").addEventListener("click", () => { view.state.boxes.splice(view.selected, 1); changed(); });
  byId("colour").addEventListener("change", (event) => { view.state.colour = event.target.value; changed(); });
}
