"use strict";
// Dragging on the plan: devices and boxes move by their bodies, devices turn by the tips of their arrows. Each also has a
// place in the order of Tab, where the arrow keys move it.

const HANDLE = 14; // reach of a handle, in units of the SVG
const ARROW = 24; // length of a device's arrow, in units of the SVG
const STEP_M = 0.05, STEP_DEG = 5;
let drag = null;

// From the SVG's units to the screen, however the SVG is fitted into its place.
const planMatrix = () => byId("plan").querySelector("svg").getScreenCTM();

function planPoint(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(planMatrix().inverse());
  return [point.x, point.y];
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

// Everything that can be moved: the TX, the receivers, the boxes.
function things() {
  const all = [{ kind: "tx", name: "TX" }];
  receivers().forEach((_, n) => all.push({ kind: "rx", index: n, name: view.state.views.length ? "RX " + (n + 1) : "RX" }));
  view.state.boxes.slice(0, 40).forEach((box, n) => all.push({ kind: "box", index: n, name: box.name || "box " + n }));
  return all;
}

const device = (thing) => (thing.kind === "tx" ? view.state.tx : thing.kind === "rx" ? receiver(thing.index) : null);
const place = (thing) => device(thing)?.position_m || view.state.boxes[thing.index].center_m;

// What is grasped at a point of the plan.
function grasp(point) {
  const near = ([x, y]) => Math.hypot(point[0] - x, point[1] - y);
  for (const thing of things().filter((t) => t.kind !== "box")) {
    const at = pixels(place(thing)), a = device(thing).heading_deg * Math.PI / 180;
    if (near(at) <= HANDLE * 0.8) return { ...thing, act: "move" };
    if (near([at[0] + ARROW * Math.cos(a), at[1] - ARROW * Math.sin(a)]) <= HANDLE * 0.8) return { ...thing, act: "turn" };
  }
  for (let n = view.state.boxes.length - 1; n >= 0; n--) {
    const box = view.state.boxes[n];
    const at = pixels(box.center_m);
    const scale = view.result.plan_frame.area[2] / (view.result.plan_frame.x_m[1] - view.result.plan_frame.x_m[0]);
    const a = box.yaw_deg * Math.PI / 180;
    const [dx, dy] = [point[0] - at[0], -(point[1] - at[1])];
    const along = Math.abs(dx * Math.cos(a) + dy * Math.sin(a)), across = Math.abs(dy * Math.cos(a) - dx * Math.sin(a));
    if (along <= box.size_m[0] * scale / 2 + 3 && across <= Math.max(box.size_m[1] * scale / 2, HANDLE / 2)) {
      return { kind: "box", index: n, act: "move", offset: [box.center_m[0] - metres(point)[0], box.center_m[1] - metres(point)[1]] };
    }
  }
  return null;
}

function inside([x, y], margin) {
  const [x0, x1, y0, y1] = view.state.room_m;
  const within = (v, low, high) => Math.min(Math.max(v, Math.min(low + margin, high)), Math.max(high - margin, low));
  return [round(within(x, x0, x1), 3), round(within(y, y0, y1), 3)];
}

function choose(thing) {
  if (thing.kind === "box") view.selected = thing.index;
  if (thing.kind === "rx" && view.state.shown !== thing.index) { view.state.shown = thing.index; return true; }
  return false;
}

function moveTo(event) {
  const [x, y] = metres(planPoint(event));
  if (drag.act === "turn") {
    const own = device(drag), [cx, cy] = own.position_m;
    own.heading_deg = round(wrapDegrees(Math.atan2(y - cy, x - cx) * 180 / Math.PI), 1);
  } else {
    const at = place(drag), [ox, oy] = drag.offset || [0, 0];
    [at[0], at[1]] = inside([x + ox, y + oy], 0.02);
  }
  changed(false);
}

// The keys of one thing on the plan.
function pressed(event, thing) {
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (event.key === "Delete" || event.key === "Backspace") {
    if (thing.kind === "box") { view.selected = thing.index; removeBox(); } else if (thing.kind === "rx") removeReceiver(thing.index);
  } else if (step && event.shiftKey) {
    const turn = (step[0] < 0 || step[1] > 0 ? 1 : -1) * (event.altKey ? 1 : STEP_DEG);
    const own = device(thing) || view.state.boxes[thing.index], key = device(thing) ? "heading_deg" : "yaw_deg";
    own[key] = round(wrapDegrees(own[key] + turn), 1);
    changed();
  } else if (step) {
    const at = place(thing), size = event.altKey ? 0.01 : STEP_M;
    [at[0], at[1]] = inside([at[0] + step[0] * size, at[1] + step[1] * size], 0.02);
    changed();
  } else return;
  event.preventDefault();
}

// A button over each thing on the plan: it can be reached with Tab, the mouse goes through it.
function showHandles() {
  const holder = byId("handles");
  if (!holder || !byId("plan").querySelector("svg")) return;
  const all = things(), matrix = planMatrix(), origin = holder.getBoundingClientRect();
  while (holder.children.length > all.length) holder.lastChild.remove();
  all.forEach((thing, n) => {
    let button = holder.children[n];
    if (!button) {
      button = document.createElement("button");
      button.type = "button";
      button.className = "handle";
      button.addEventListener("keydown", (event) => pressed(event, things()[n]));
      button.addEventListener("focus", () => { if (choose(things()[n])) changed(); else showDevices(); });
      holder.append(button);
    }
    button.setAttribute("aria-label", thing.name + ": arrow keys move it 5 cm, with Shift they turn it, with Alt by less");
    const [x, y] = pixels(place(thing));
    const at = new DOMPoint(x, y).matrixTransform(matrix);
    button.style.left = at.x - origin.left + "px";
    button.style.top = at.y - origin.top + "px";
  });
}

function wirePlan() {
  const plan = byId("plan");
  new ResizeObserver(showHandles).observe(plan);
  if (!start.live) return;
  plan.addEventListener("pointerdown", (event) => {
    drag = grasp(planPoint(event));
    if (!drag) return;
    if (choose(drag)) refresh();
    showDevices();
    plan.setPointerCapture(event.pointerId);
    plan.classList.add("moving");
    event.preventDefault();
  });
  plan.addEventListener("pointermove", (event) => {
    if (drag) moveTo(event);
    else plan.classList.toggle("movable", grasp(planPoint(event)) !== null);
  });
  const release = () => {
    if (drag) remember();
    drag = null;
    plan.classList.remove("moving");
  };
  plan.addEventListener("pointerup", release);
  plan.addEventListener("pointercancel", release);
}
