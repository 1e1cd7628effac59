"use strict";
// Dragging on the plan: TX, RX and boxes move by their bodies, devices turn by the tips of their arrows.

const HANDLE = 14; // reach of a handle, in units of the SVG
const ARROW = 24; // length of a device's arrow, in units of the SVG
let drag = null;

function planPoint(event) {
  const svg = byId("plan").querySelector("svg");
  const box = svg.getBoundingClientRect();
  const [w, h] = view.result.plan_frame.size;
  return [(event.clientX - box.left) / box.width * w, (event.clientY - box.top) / box.height * h];
}

function metres([px, py]) {
  const f = view.result.plan_frame;
  return [
    f.x_m[0] + (px - f.area[0]) / f.area[2] * (f.x_m[1] - f.x_m[0]),
    f.y_m[1] - (py - f.area[1]) / f.area[3] * (f.y_m[1] - f.y_m[0]),
  ];
}

function pixels([x, y]) {
  const f = view.result.plan_frame;
  return [
    f.area[0] + (x - f.x_m[0]) / (f.x_m[1] - f.x_m[0]) * f.area[2],
    f.area[1] + (f.y_m[1] - y) / (f.y_m[1] - f.y_m[0]) * f.area[3],
  ];
}

// What lies under a point of the plan.
function grasp(point) {
  const near = (p) => Math.hypot(point[0] - p[0], point[1] - p[1]);
  for (const name of ["tx", "rx"]) {
    const device = view.state[name];
    const at = pixels(device.position_m);
    const a = device.heading_deg * Math.PI / 180;
    if (near(at) <= HANDLE * 0.8) return { kind: "move", name };
    if (near([at[0] + ARROW * Math.cos(a), at[1] - ARROW * Math.sin(a)]) <= HANDLE * 0.8) return { kind: "turn", name };
  }
  for (let n = view.state.boxes.length - 1; n >= 0; n--) {
    const box = view.state.boxes[n];
    const at = pixels(box.center_m);
    const scale = view.result.plan_frame.area[2] / (view.result.plan_frame.x_m[1] - view.result.plan_frame.x_m[0]);
    const a = box.yaw_deg * Math.PI / 180;
    const [dx, dy] = [point[0] - at[0], -(point[1] - at[1])];
    const along = Math.abs(dx * Math.cos(a) + dy * Math.sin(a)), across = Math.abs(dy * Math.cos(a) - dx * Math.sin(a));
    if (along <= box.size_m[0] * scale / 2 + 3 && across <= Math.max(box.size_m[1] * scale / 2, HANDLE / 2)) {
      return { kind: "box", index: n, offset: [box.center_m[0] - metres(point)[0], box.center_m[1] - metres(point)[1]] };
    }
  }
  return null;
}

function inside([x, y], margin) {
  const [x0, x1, y0, y1] = view.state.room_m;
  const within = (v, low, high) => Math.min(Math.max(v, Math.min(low + margin, high)), Math.max(high - margin, low));
  return [round(within(x, x0, x1), 3), round(within(y, y0, y1), 3)];
}

function moveTo(event) {
  const point = planPoint(event);
  const [x, y] = metres(point);
  if (drag.kind === "move") {
    const position = view.state[drag.name].position_m;
    [position[0], position[1]] = inside([x, y], 0.02);
  } else if (drag.kind === "turn") {
    const [cx, cy] = view.state[drag.name].position_m;
    view.state[drag.name].heading_deg = round(wrapDegrees(Math.atan2(y - cy, x - cx) * 180 / Math.PI), 1);
  } else {
    const center = view.state.boxes[drag.index].center_m;
    [center[0], center[1]] = inside([x + drag.offset[0], y + drag.offset[1]], 0.02);
  }
  changed();
}

function wirePlan() {
  const plan = byId("plan");
  plan.addEventListener("pointerdown", (event) => {
    drag = start.live ? grasp(planPoint(event)) : null;
    if (!drag) return;
    if (drag.kind === "box") { view.selected = drag.index; showDevices(); }
    plan.setPointerCapture(event.pointerId);
    plan.classList.add("moving");
    event.preventDefault();
  });
  plan.addEventListener("pointermove", (event) => {
    if (drag) moveTo(event);
    else plan.classList.toggle("movable", start.live && grasp(planPoint(event)) !== null);
  });
  const release = () => { drag = null; plan.classList.remove("moving"); };
  plan.addEventListener("pointerup", release);
  plan.addEventListener("pointercancel", release);
}
