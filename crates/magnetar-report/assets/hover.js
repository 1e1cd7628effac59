"use strict";
// One path lights up wherever it is shown: room, plan, table, delay profile, estimates.

function light(path) {
  view.lit = path !== null && path < view.result.paths.length ? path : null;
  const arrivals = view.result.arrivals.map((arrival) => arrival.path);
  document.body.classList.toggle("lighting", view.lit !== null);
  for (const element of document.querySelectorAll("[data-path], [data-arrival]")) {
    const own = element.dataset.path !== undefined ? Number(element.dataset.path) : arrivals[Number(element.dataset.arrival)];
    element.classList.toggle("lit", view.lit !== null && own === view.lit);
  }
}

function lightUp(path) {
  if (path === view.lit) return;
  light(path);
  draw3d();
}

function wireHover() {
  const pathOf = (target) => {
    const element = target.closest?.("[data-path], [data-arrival]");
    if (!element) return null;
    if (element.dataset.path !== undefined) return Number(element.dataset.path);
    return view.result.arrivals[Number(element.dataset.arrival)]?.path ?? null;
  };
  for (const id of ["plan", "delay", "paths", "arrivals"]) {
    const part = byId(id);
    part.addEventListener("pointerover", (event) => lightUp(pathOf(event.target)));
    part.addEventListener("pointerleave", () => lightUp(null));
    part.addEventListener("focusin", (event) => lightUp(pathOf(event.target)));
    part.addEventListener("focusout", () => lightUp(null));
  }
  // In the 3D room: the path whose line is nearest to the mouse.
  const canvas = byId("room3d");
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) return;
    const box = canvas.getBoundingClientRect(), point = [event.clientX - box.left, event.clientY - box.top];
    const [x0, x1, y0, y1, z0, z1] = view.state.room_m;
    const at = projection(roomCamera, corners([(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2], [x1 - x0, y1 - y0, z1 - z0], 0), box.width, box.height);
    let [best, nearest] = [null, 7];
    view.result.paths.forEach((path, n) => {
      const flat = path.points_m.map(at);
      for (let k = 0; k + 1 < flat.length; k++) {
        const away = toSegment(point, flat[k], flat[k + 1]);
        if (away < nearest) [best, nearest] = [n, away];
      }
    });
    lightUp(best);
  });
  canvas.addEventListener("pointerleave", () => lightUp(null));
}

function toSegment([x, y], [ax, ay], [bx, by]) {
  const [dx, dy] = [bx - ax, by - ay], length = dx * dx + dy * dy;
  const t = length ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / length)) : 0;
  return Math.hypot(x - ax - t * dx, y - ay - t * dy);
}
