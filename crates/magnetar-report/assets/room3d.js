"use strict";
// The room in 3D: an orbiting camera, far faces painted first.

const roomCamera = makeCamera(0.75, 0.5);
const LOBE = 0.11; // radius of a lobe's peak, in lengths of the room's longer side

// Corners of a box turned about the vertical axis: bottom then top, counter-clockwise.
function corners(center, size, yawDeg) {
  const a = yawDeg * Math.PI / 180;
  const out = [];
  for (const sz of [-1, 1]) {
    for (const [sx, sy] of [[-1, -1], [1, -1], [1, 1], [-1, 1]]) {
      const [u, v] = [sx * size[0] / 2, sy * size[1] / 2];
      out.push([center[0] + u * Math.cos(a) - v * Math.sin(a), center[1] + u * Math.sin(a) + v * Math.cos(a), center[2] + sz * size[2] / 2]);
    }
  }
  return out;
}

const BOX_FACES = [[0, 1, 2, 3], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];
const BOX_EDGES = [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]];

function boxFaces(points, ink, alpha) {
  return BOX_FACES.map((face) => ({ points: face.map((n) => points[n]), ink, alpha, edge: 0.9 }));
}

// The pattern as a surface around a device: 15 degree steps, radius by amplitude.
function lobeFaces(device, lobe, ink) {
  const rows = lobe.amplitude, faces = [];
  const [x0, x1, y0, y1] = view.state.room_m;
  const peak = Math.min(LOBE * Math.max(x1 - x0, y1 - y0), 2);
  const at = (r, c) => {
    const [el, az] = [(r * 15 - 90) * Math.PI / 180, (c * 15 - 180 + device.heading_deg) * Math.PI / 180];
    const radius = peak * rows[r][c];
    const p = device.position_m;
    return [p[0] + radius * Math.cos(el) * Math.cos(az), p[1] + radius * Math.cos(el) * Math.sin(az), p[2] + radius * Math.sin(el)];
  };
  for (let r = 0; r + 1 < rows.length; r++) {
    for (let c = 0; c + 1 < rows[r].length; c++) {
      faces.push({ points: [at(r, c), at(r, c + 1), at(r + 1, c + 1), at(r + 1, c)], ink, alpha: 0.16, edge: 0.22 });
    }
  }
  return faces;
}

// Paints faces, the far ones first.
function paint(pen, at, faces) {
  for (const face of faces) {
    face.flat = face.points.map(at);
    face.depth = face.back ? Infinity : face.flat.reduce((sum, p) => sum + p[2], 0) / face.flat.length;
  }
  faces.sort((a, b) => b.depth - a.depth);
  for (const face of faces) pen.shape(face.flat, face.ink, face.alpha, face.edge, face.edgeInk);
}

function drawRoom(pen) {
  const [x0, x1, y0, y1, z0, z1] = view.state.room_m;
  const room = corners([(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2], [x1 - x0, y1 - y0, z1 - z0], 0);
  const at = projection(roomCamera, room, pen.width, pen.height);
  const line = (points, ...look) => pen.line(points.map(at), ...look);
  const faces = [{ points: room.slice(0, 4), ink: "floor", alpha: 0.1, edge: 0, back: true }];
  for (const box of view.state.boxes) faces.push(...boxFaces(corners(box.center_m, box.size_m, box.yaw_deg), "board", 0.35));
  faces.push(...lobeFaces(view.state.tx, start.lobes.tx, "tx"), ...lobeFaces(receiver(), start.lobes.rx, "rx"));
  paint(pen, at, faces);
  for (const [a, b] of BOX_EDGES) line([room[a], room[b]], "wall", 1.5);
  const ordered = view.result.paths.map((path, n) => ({ path, n })).sort((a, b) => a.path.raw_snr_db - b.path.raw_snr_db);
  if (view.lit !== null) ordered.sort((a, b) => (a.n === view.lit) - (b.n === view.lit));
  for (const { path, n } of ordered) {
    const lit = view.lit === n;
    line(path.points_m, path.colour, lit ? 5 : 2.2, path.dash, view.lit === null || lit ? 1 : 0.25);
  }
  const marks = [["tx", "TX", view.state.tx], ...receivers().map((r, n) => ["rx", view.state.views.length ? "RX " + (n + 1) : "RX", r])];
  for (const [name, label, { heading_deg, position_m: p }] of marks) {
    const a = heading_deg * Math.PI / 180;
    line([p, [p[0] + 0.6 * Math.cos(a), p[1] + 0.6 * Math.sin(a), p[2]]], name, 2.5);
    line([p, [p[0], p[1], z0]], name, 1, "2 3");
    const [x, y] = at(p);
    const square = [[-5.5, -5.5], [5.5, -5.5], [5.5, 5.5], [-5.5, 5.5]];
    pen.shape((name === "tx" ? [[0, -8], [7, 5], [-7, 5]] : square).map(([dx, dy]) => [x + dx, y + dy]), name, 1);
    pen.word(x + 10, y - 8, label, true);
  }
  for (const [name, tip] of [["x", [x0 + 1, y0, z0]], ["y", [x0, y0 + 1, z0]], ["z", [x0, y0, z0 + 1]]]) {
    line([[x0, y0, z0], tip], "text", 2);
    const [x, y] = at(tip);
    pen.word(x + 4, y - 4, name);
  }
}

function draw3d() {
  const canvas = byId("room3d");
  if (canvas.clientWidth && canvas.clientHeight) drawRoom(canvasPen(canvas));
}
