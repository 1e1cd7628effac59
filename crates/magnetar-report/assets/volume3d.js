"use strict";
// The joint posterior in 3D: voxels of its HPD sets, position across, heading upwards.

const volumeCamera = makeCamera(0.6, 0.45);
const FLOOR_DB = 12; // the colour scale reaches this far under the peak

// Faces of the voxels that border on something else.
function voxelFaces(data) {
  const [columns, rows, headings] = [data.x_m.length, data.y_m.length, data.heading_deg.length];
  const [x0, x1, y0, y1] = data.bounds_m, lift = 0.75 * Math.max(x1 - x0, y1 - y0);
  const [dx, dy, dz] = [(x1 - x0) / columns, (y1 - y0) / rows, lift / headings];
  const mass = new Map(data.cells.map((cell, n) => [cell, data.mass[n]]));
  const peak = Math.max(...data.mass, 1e-30);
  const kind = (d, i, j) => {
    if (i < 0 || j < 0 || d < 0 || i >= rows || j >= columns || d >= headings) return 0;
    const m = mass.get((d * rows + i) * columns + j);
    return m === undefined ? 0 : m >= data.half_mass ? 2 : 1;
  };
  // Unit corners of a face, its neighbour and its shade.
  const sides = [
    [[0, -1, 0], [[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]], 0.85], [[0, 1, 0], [[0, 1, 0], [1, 1, 0], [1, 1, 1], [0, 1, 1]], 0.85],
    [[1, 0, 0], [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]], 0.72], [[-1, 0, 0], [[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], 0.72],
    [[0, 0, 1], [[0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], 1], [[0, 0, -1], [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], 0.6],
  ];
  const faces = [];
  for (const [cell, m] of mass) {
    const [d, i, j] = [Math.floor(cell / (rows * columns)), Math.floor(cell / columns) % rows, cell % columns];
    const own = kind(d, i, j);
    const colour = shade(1 + 10 * Math.log10(m / peak) / FLOOR_DB);
    for (const [[a, b, c], square, dim] of sides) {
      if (kind(d + c, i + b, j + a) >= own) continue;
      const points = square.map(([u, v, w]) => [x0 + (j + u) * dx, y0 + (i + v) * dy, (d + w) * dz]);
      if (own === 2) faces.push({ points, ink: `rgb(${colour.map((part) => Math.round(part * dim)).join(",")})`, alpha: 1, edge: 0.25, edgeInk: "background" });
      else faces.push({ points, ink: "muted", alpha: 0.09, edge: 0 });
    }
  }
  return faces;
}

function drawVolume(pen) {
  const data = view.result.posterior;
  if (!data) return;
  const [x0, x1, y0, y1] = data.bounds_m, lift = 0.75 * Math.max(x1 - x0, y1 - y0);
  const frame = corners([(x0 + x1) / 2, (y0 + y1) / 2, lift / 2], [x1 - x0, y1 - y0, lift], 0);
  const names = { x: [(x0 + x1) / 2, y0 - 0.06 * (y1 - y0), 0], y: [x1 + 0.08 * (x1 - x0), (y0 + y1) / 2, 0] };
  const at = projection(volumeCamera, [...frame, names.x, names.y], pen.width, pen.height, 40);
  for (const [a, b] of BOX_EDGES) pen.line([frame[a], frame[b]].map(at), "grid", 1);
  const faces = voxelFaces(data);
  paint(pen, at, faces);
  const label = (point, text) => { const [x, y] = at(point); pen.word(x + 4, y + 4, text); };
  for (const h of [0, 90, 180, 270, 360]) label([x0, y0, lift * h / 360], h + "\u00b0");
  const ticks = (low, high) => { const out = []; for (let v = Math.ceil(low / 2) * 2; v <= high; v += 2) out.push(v); return out; };
  for (const x of ticks(x0, x1)) label([x, y0, 0], shown(x, 0));
  for (const y of ticks(y0, y1)) label([x1, y, 0], shown(y, 0));
  label(names.x, "x / m");
  label(names.y, "y / m");
  if (!start.measured) {
    const { position_m: p, heading_deg } = view.state.tx, h = lift * (((heading_deg % 360) + 360) % 360) / 360;
    pen.line([[x0, y0, h], [x1, y0, h], [x1, y1, h], [x0, y1, h], [x0, y0, h]].map(at), "tx", 1.2, "6 3");
    pen.line([[p[0], p[1], 0], [p[0], p[1], h]].map(at), "tx", 1.2, "2 3");
    const [x, y] = at([p[0], p[1], h]);
    pen.shape([[x, y - 8], [x + 7, y + 5], [x - 7, y + 5]], "tx", 1, 1, "background");
    pen.word(x + 9, y - 6, "true TX", true);
  }
}

function draw3dVolume() {
  const canvas = byId("volume");
  if (!canvas.hidden && canvas.clientWidth && canvas.clientHeight) drawVolume(canvasPen(canvas));
}
