"use strict";
// The room in 3D on a plain canvas: an orbiting camera, far faces painted first.

const camera = { turn: 0.75, tilt: 0.5, zoom: 1 };
const LOBE = 0.11; // radius of a lobe's peak, in lengths of the room's longer side

function project(width, height) {
  const [x0, x1, y0, y1, z0, z1] = view.state.room_m;
  const middle = [(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2];
  const reach = Math.hypot(x1 - x0, y1 - y0, z1 - z0);
  const [st, ct, sp, cp] = [Math.sin(camera.turn), Math.cos(camera.turn), Math.sin(camera.tilt), Math.cos(camera.tilt)];
  const distance = 1.6 * reach;
  const scale = camera.zoom * Math.min(width, height * 1.3) * 1.5;
  return ([x, y, z]) => {
    const [dx, dy, dz] = [x - middle[0], y - middle[1], z - middle[2]];
    const right = -st * dx + ct * dy;
    const ahead = -(ct * dx + st * dy) * cp - dz * sp; // away from the camera
    const up = dz * cp - (ct * dx + st * dy) * sp;
    const depth = distance + ahead;
    const k = scale / Math.max(depth, 0.05 * distance);
    return [width / 2 + right * k, height / 2 - up * k, depth];
  };
}

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

function draw3d() {
  const canvas = byId("room3d");
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  if (!width || !height) return;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue("--" + name).trim() || "#888";
  const at = project(width, height);
  const line = (points, ink, lineWidth, dash) => {
    g.beginPath();
    points.map(at).forEach(([x, y], n) => (n ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.setLineDash(dash ? dash.split(" ").map(Number) : []);
    [g.strokeStyle, g.lineWidth, g.globalAlpha] = [ink, lineWidth, 1];
    g.stroke();
    g.setLineDash([]);
  };
  const [x0, x1, y0, y1, z0, z1] = view.state.room_m;
  const room = corners([(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2], [x1 - x0, y1 - y0, z1 - z0], 0);
  const faces = [{ points: room.slice(0, 4), ink: colour("floor"), alpha: 0.1, edge: 0, back: true }];
  for (const box of view.state.boxes) faces.push(...boxFaces(corners(box.center_m, box.size_m, box.yaw_deg), colour("board"), 0.35));
  faces.push(...lobeFaces(view.state.tx, start.lobes.tx, colour("tx")));
  faces.push(...lobeFaces(view.state.rx, start.lobes.rx, colour("rx")));
  for (const face of faces) {
    face.flat = face.points.map(at);
    face.depth = face.back ? Infinity : face.flat.reduce((sum, p) => sum + p[2], 0) / face.flat.length;
  }
  faces.sort((a, b) => b.depth - a.depth);
  for (const face of faces) {
    g.beginPath();
    face.flat.forEach(([x, y], n) => (n ? g.lineTo(x, y) : g.moveTo(x, y)));
    g.closePath();
    [g.fillStyle, g.strokeStyle, g.lineWidth] = [face.ink, face.ink, 1];
    g.globalAlpha = face.alpha;
    g.fill();
    if (face.edge) { g.globalAlpha = face.edge; g.stroke(); }
  }
  for (const [a, b] of [[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]]) {
    line([room[a], room[b]], colour("wall"), 1.5);
  }
  const ordered = [...view.result.paths].sort((a, b) => a.raw_snr_db - b.raw_snr_db);
  for (const path of ordered) line(path.points_m, resolve(path.colour, style), 2.2, path.dash);
  for (const [name, label] of [["tx", "TX"], ["rx", "RX"]]) {
    const device = view.state[name], a = device.heading_deg * Math.PI / 180, p = device.position_m;
    line([p, [p[0] + 0.6 * Math.cos(a), p[1] + 0.6 * Math.sin(a), p[2]]], colour(name), 2.5);
    line([p, [p[0], p[1], z0]], colour(name), 1, "2 3");
    const [x, y] = at(p);
    g.fillStyle = colour(name);
    g.beginPath();
    if (name === "tx") { g.moveTo(x, y - 8); g.lineTo(x + 7, y + 5); g.lineTo(x - 7, y + 5); } else g.rect(x - 5.5, y - 5.5, 11, 11);
    g.fill();
    g.fillStyle = colour("text");
    g.font = "bold 13px system-ui, sans-serif";
    g.fillText(label, x + 10, y - 8);
  }
  g.font = "12px system-ui, sans-serif";
  for (const [name, tip] of [["x", [x0 + 1, y0, z0]], ["y", [x0, y0 + 1, z0]], ["z", [x0, y0, z0 + 1]]]) {
    line([[x0, y0, z0], tip], colour("text"), 2);
    const [x, y] = at(tip);
    g.fillText(name, x + 4, y - 4);
  }
}

// "var(--name)" as a colour a canvas understands.
function resolve(paint, style) {
  const name = /^var\((--[a-z0-9]+)\)$/.exec(paint);
  return name ? style.getPropertyValue(name[1]).trim() : paint;
}

function wire3d() {
  const canvas = byId("room3d");
  let last = null;
  canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    camera.turn -= (event.clientX - last[0]) * 0.008;
    camera.tilt = Math.min(1.5, Math.max(-1.5, camera.tilt + (event.clientY - last[1]) * 0.008));
    last = [event.clientX, event.clientY];
    draw3d();
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { last = null; });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomBy(Math.exp(-event.deltaY * 0.0012));
  }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const turn = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (turn) {
      camera.turn += turn[0];
      camera.tilt = Math.min(1.5, Math.max(-1.5, camera.tilt + turn[1]));
      draw3d();
    } else if (event.key === "+" || event.key === "-") {
      zoomBy(event.key === "+" ? 1.1 : 1 / 1.1);
    } else return;
    event.preventDefault();
  });
  new ResizeObserver(draw3d).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw3d);
}

function zoomBy(factor) {
  camera.zoom = Math.min(6, Math.max(0.3, camera.zoom * factor));
  draw3d();
}
