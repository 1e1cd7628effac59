"use strict";
// The floor under the plan: what the RX would hear everywhere.

const SHADES = start.shades;
// Viridis at 0 to 1.
function shade(t) {
  const at = Math.round(Math.min(1, Math.max(0, t)) * (SHADES.length - 1));
  return SHADES[at];
}

function refreshFloor() {
  if (!start.live || view.floor === "none") { view.coverage = null; return; }
  converse(traffic.floor, "/api/coverage", {}, ({ coverage }) => { view.coverage = coverage; showFloor(); });
}

// Range of a map for its colours, whole tens of dB.
function floorRange(map) {
  const heard = map.best_snr_db.filter((v) => v !== null);
  if (!heard.length) return [0, 1];
  const top = Math.ceil(Math.max(...heard) / 5) * 5;
  return [Math.max(top - 50, Math.floor(Math.min(...heard) / 5) * 5), top];
}

// Lays the map under the plan's lines, as a picture of one pixel a cell.
function showFloor() {
  const caption = byId("floor-caption"), svg = byId("plan").querySelector("svg");
  svg?.querySelector("#floor-map")?.remove();
  caption.hidden = !view.coverage || view.floor === "none";
  if (caption.hidden || !svg) return;
  const map = view.coverage, canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [map.columns, map.rows];
  const g = canvas.getContext("2d"), picture = g.createImageData(map.columns, map.rows);
  const [low, high] = floorRange(map);
  for (let n = 0; n < map.columns * map.rows; n++) {
    const at = 4 * ((map.rows - 1 - Math.floor(n / map.columns)) * map.columns + n % map.columns);
    const value = map.best_snr_db[n];
    if (view.floor === "snr" && value === null) continue;
    const colour = view.floor === "snr" ? shade((value - low) / (high - low)) : shade(map.line_of_sight[n] ? 0.85 : 0.2);
    picture.data.set([...colour, 190], at);
  }
  g.putImageData(picture, 0, 0);
  const [x0, x1, y0, y1] = map.bounds_m, [left, top] = pixels([x0, y1]), [right, bottom] = pixels([x1, y0]);
  const image = document.createElementNS("http://www.w3.org/2000/svg", "image");
  const attributes = { id: "floor-map", x: left, y: top, width: right - left, height: bottom - top, preserveAspectRatio: "none", href: canvas.toDataURL(), style: "image-rendering:pixelated" };
  for (const [name, value] of Object.entries(attributes)) image.setAttribute(name, value);
  // Above the frame's ground and grid, under walls, paths and devices.
  const ground = svg.querySelector("[data-room]");
  (ground ? ground.parentNode : svg).insertBefore(image, ground || null);
  const cells = map.columns + " \u00d7 " + map.rows + " places of the RX, its height and heading kept";
  const covered = Math.round(100 * map.line_of_sight.filter(Boolean).length / map.line_of_sight.length);
  caption.textContent = view.floor === "snr"
    ? "Floor: SNR per bin of the best path, dark " + shown(low, 0) + " dB to bright " + shown(high, 0) + " dB; " + cells + "."
    : "Floor: bright where the direct path is free (" + covered + " % of the floor); " + cells + ".";
}

function wireFloor() {
  if (!start.live) return;
  byId("floor-layer").addEventListener("change", (event) => {
    view.floor = event.target.value;
    if (view.floor === "none") view.coverage = null;
    showFloor();
    refreshFloor();
    rememberSoon();
  });
}
