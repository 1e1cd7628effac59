"use strict";
// One drawing in 3D, on a canvas or as SVG: a camera around a box, and pens that know lines, shapes and words.

function makeCamera(turn, tilt) { return { turn, tilt, zoom: 1 }; }

// From points of a box (its corners given) to the picture: at zoom 1 the box just fits its frame, however it is turned.
function projection(camera, corners, width, height, air = 26) {
  const lows = [0, 1, 2].map((k) => Math.min(...corners.map((c) => c[k]))), highs = [0, 1, 2].map((k) => Math.max(...corners.map((c) => c[k])));
  const middle = lows.map((low, k) => (low + highs[k]) / 2);
  const reach = Math.hypot(...highs.map((high, k) => high - lows[k]));
  const [st, ct, sp, cp] = [Math.sin(camera.turn), Math.cos(camera.turn), Math.sin(camera.tilt), Math.cos(camera.tilt)];
  const distance = 1.6 * reach;
  const flat = ([x, y, z]) => {
    const [dx, dy, dz] = [x - middle[0], y - middle[1], z - middle[2]];
    const depth = distance - (ct * dx + st * dy) * cp - dz * sp; // away from the camera
    const k = 1 / Math.max(depth, 0.05 * distance);
    return [(-st * dx + ct * dy) * k, -(dz * cp - (ct * dx + st * dy) * sp) * k, depth];
  };
  const seen = corners.map(flat);
  const [left, right] = [Math.min(...seen.map((p) => p[0])), Math.max(...seen.map((p) => p[0]))];
  const [top, bottom] = [Math.min(...seen.map((p) => p[1])), Math.max(...seen.map((p) => p[1]))];
  const scale = camera.zoom * Math.min((width - 2 * air) / (right - left), (height - 2 * air) / (bottom - top));
  return (point) => {
    const [x, y, depth] = flat(point);
    return [width / 2 + (x - (left + right) / 2) * scale, height / 2 + (y - (top + bottom) / 2) * scale, depth];
  };
}

// Inks by the names of the page's colours, as something a canvas or a file understands.
function inks() {
  const style = getComputedStyle(document.documentElement);
  return (name) => {
    const variable = /^var\((--[a-z0-9]+)\)$/.exec(name);
    if (variable) return style.getPropertyValue(variable[1]).trim();
    return /^[a-z]+[0-9]?$/.test(name) ? style.getPropertyValue("--" + name).trim() || "#888" : name;
  };
}

function canvasPen(canvas) {
  const ratio = window.devicePixelRatio || 1, ink = inks();
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const g = canvas.getContext("2d");
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  const trace = (points) => { g.beginPath(); points.forEach(([x, y], n) => (n ? g.lineTo(x, y) : g.moveTo(x, y))); };
  return {
    width, height,
    shape(points, fill, alpha, edge = 0, edgeInk = fill) {
      trace(points);
      g.closePath();
      [g.fillStyle, g.strokeStyle, g.lineWidth, g.globalAlpha] = [ink(fill), ink(edgeInk), 1, alpha];
      g.fill();
      if (edge) { g.globalAlpha = edge; g.stroke(); }
      g.globalAlpha = 1;
    },
    line(points, colour, lineWidth, dash, alpha = 1) {
      trace(points);
      g.setLineDash(dash ? dash.split(" ").map(Number) : []);
      [g.strokeStyle, g.lineWidth, g.globalAlpha] = [ink(colour), lineWidth, alpha];
      g.stroke();
      g.setLineDash([]);
      g.globalAlpha = 1;
    },
    word(x, y, text, bold) {
      g.fillStyle = ink("text");
      g.font = (bold ? "bold 13px" : "12px") + " system-ui, sans-serif";
      g.fillText(text, x, y);
    },
  };
}

function svgPen(width, height, title) {
  const ink = inks(), out = [], two = (v) => Number(v.toFixed(2));
  const path = (points, close) => points.map(([x, y], n) => (n ? "L" : "M") + two(x) + " " + two(y)).join("") + (close ? "Z" : "");
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => "&#" + c.charCodeAt(0) + ";");
  return {
    width, height,
    shape(points, fill, alpha, edge = 0, edgeInk = fill) {
      out.push(`<path d="${path(points, true)}" fill="${ink(fill)}" fill-opacity="${two(alpha)}"` + (edge ? ` stroke="${ink(edgeInk)}" stroke-opacity="${two(edge)}"` : "") + "/>");
    },
    line(points, colour, lineWidth, dash, alpha = 1) {
      out.push(`<path d="${path(points)}" fill="none" stroke="${ink(colour)}" stroke-width="${lineWidth}" stroke-opacity="${alpha}"` + (dash ? ` stroke-dasharray="${dash}"` : "") + "/>");
    },
    word(x, y, text, bold) {
      out.push(`<text x="${two(x)}" y="${two(y)}" font-size="${bold ? 13 : 12}" fill="${ink("text")}"` + (bold ? " font-weight=\"bold\"" : "") + `>${escaped(text)}</text>`);
    },
    finish() {
      return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="'Noto Sans',system-ui,sans-serif"><title>${escaped(title)}</title><rect width="${width}" height="${height}" fill="${ink("panel")}"/>${out.join("")}</svg>\n`;
    },
  };
}

// Mouse, wheel and keys turn a camera and draw again.
function wireCamera(canvas, camera, draw) {
  let last = null;
  const turn = (by, up) => {
    camera.turn += by;
    camera.tilt = Math.min(1.5, Math.max(-1.5, camera.tilt + up));
    draw();
  };
  const zoom = (factor) => { camera.zoom = Math.min(6, Math.max(0.3, camera.zoom * factor)); draw(); };
  canvas.addEventListener("pointerdown", (event) => { last = [event.clientX, event.clientY]; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    turn((last[0] - event.clientX) * 0.008, (event.clientY - last[1]) * 0.008);
    last = [event.clientX, event.clientY];
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => { last = null; });
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * 0.0012)); }, { passive: false });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[event.key];
    if (by) turn(...by);
    else if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 1.1 : 1 / 1.1);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
