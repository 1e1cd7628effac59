"use strict";
// Pictures and numbers of every panel, and the commands that give them.

function download(name, blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// All drawings of a panel as one SVG that stands alone: colours as numbers, one under the other.
function panelSvg(panel) {
  if (panel === "room" || (panel === "posterior" && view.tab === "volume")) {
    const pen = svgPen(900, 700, panel === "room" ? "The room with its paths" : "The joint posterior: 50 % and 90 % HPD sets");
    if (panel === "room") drawRoom(pen); else drawVolume(pen);
    return { text: pen.finish(), width: 900, height: 700 };
  }
  const drawings = [...document.querySelectorAll(`[data-panel="${panel}"] svg[role=img]`)];
  const ink = inks();
  let top = 0, width = 0;
  const parts = drawings.map((svg) => {
    const [, , w, h] = svg.getAttribute("viewBox").split(" ").map(Number);
    const inner = svg.innerHTML.replace(/var\(--[a-z0-9]+\)/g, (name) => ink(name));
    const part = `<svg y="${top}" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}">${inner}</svg>`;
    [top, width] = [top + h, Math.max(width, w)];
    return part;
  });
  if (!parts.length) return null;
  const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${top}" width="${width}" height="${top}" font-family="'Noto Sans',system-ui,sans-serif"><rect width="${width}" height="${top}" fill="${ink("background")}"/>${parts.join("")}</svg>\n`;
  return { text, width, height: top };
}

function panelPng({ text, width, height }) {
  return new Promise((done, failed) => {
    const image = new Image(), scale = 2;
    image.onload = () => {
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width * scale, height * scale];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error("the picture could not be made"))), "image/png");
    };
    image.onerror = () => failed(new Error("the picture could not be made"));
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
  });
}

// The numbers of a panel: columns and rows.
function panelTable(panel) {
  const { result, coverage } = view, { data, posterior } = result;
  if (panel === "plan" && coverage && view.floor !== "none") {
    const [x0, x1, y0, y1] = coverage.bounds_m;
    const rows = coverage.best_snr_db.map((snr, n) => [
      x0 + (n % coverage.columns + 0.5) / coverage.columns * (x1 - x0), y0 + (Math.floor(n / coverage.columns) + 0.5) / coverage.rows * (y1 - y0),
      snr ?? "", coverage.line_of_sight[n] ? 1 : 0]);
    return [["x_m", "y_m", "best_path_snr_db", "line_of_sight"], rows];
  }
  if (panel === "plan" || panel === "room") {
    return [["path", "surface", "point", "x_m", "y_m", "z_m"], result.paths.flatMap((path, n) => path.points_m.map((p, k) => [n, path.surface, k, ...p]))];
  }
  if (panel === "paths") {
    return [["surface", "snr_db", "delay_ns", "aoa_azimuth_deg", "aoa_elevation_deg", "aod_azimuth_deg", "aod_elevation_deg"],
      result.paths.map((p) => [p.surface, p.raw_snr_db, p.delay_ns, ...p.aoa_deg, ...p.aod_deg])];
  }
  if (panel === "estimates") {
    return [["rank", "raw_snr_db", "snr_db", "aoa_deg", "delay_ns", "path"], result.arrivals.map((a, n) => [n + 1, a.raw_snr_db, a.snr_db, a.aoa_deg, a.delay_ns, a.path ?? ""])];
  }
  if (panel === "channel") return [["frequency_ghz", "channel_0_db", "channel_1_db"], data.frequency_ghz.map((f, n) => [f, data.magnitude_db[0][n], data.magnitude_db[1][n]])];
  if (panel === "delay") return [["delay_ns", "energy_db"], data.delay_ns.map((d, n) => [d, data.energy_db[n]])];
  if (!posterior) return null;
  const columns = posterior.x_m.length, rows = posterior.y_m.length;
  if (view.tab === "volume") {
    return [["x_m", "y_m", "heading_deg", "mass"], posterior.cells.map((cell, n) => [
      posterior.x_m[cell % columns], posterior.y_m[Math.floor(cell / columns) % rows], posterior.heading_deg[Math.floor(cell / (columns * rows))], posterior.mass[n]])];
  }
  return [["x_m", "y_m", "mass"], posterior.marginal.map((mass, n) => [posterior.x_m[n % columns], posterior.y_m[Math.floor(n / columns)], mass])];
}

function csv([names, rows]) {
  const word = (value) => (/[",\n]/.test(value) ? "\"" + String(value).replaceAll("\"", "\"\"") + "\"" : String(value));
  return [names, ...rows].map((row) => row.map(word).join(",")).join("\n") + "\n";
}

async function save(panel, kind) {
  const name = "magnetar-" + (panel === "posterior" ? view.tab : panel) + "." + kind;
  try {
    if (kind === "csv") {
      const table = panelTable(panel);
      if (!table) throw new Error("there are no numbers here yet");
      download(name, new Blob([csv(table)], { type: "text/csv" }));
      return;
    }
    const picture = panelSvg(panel);
    if (!picture) throw new Error("there is no picture here yet");
    download(name, kind === "svg" ? new Blob([picture.text], { type: "image/svg+xml" }) : await panelPng(picture));
  } catch (error) {
    say(error.message);
  }
}

const TABLES_ONLY = ["paths", "estimates"];

function wireSave() {
  for (const section of document.querySelectorAll("[data-panel]")) {
    const panel = section.dataset.panel, menu = document.createElement("details");
    menu.className = "menu save";
    const summary = document.createElement("summary"), choices = document.createElement("div");
    summary.textContent = "Save";
    summary.setAttribute("aria-label", "Save the panel " + panel);
    choices.className = "choices";
    for (const kind of TABLES_ONLY.includes(panel) ? ["csv"] : ["png", "svg", "csv"]) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind.toUpperCase();
      button.dataset.save = kind;
      button.addEventListener("click", () => { menu.open = false; save(panel, kind); });
      choices.append(button);
    }
    menu.append(summary, choices);
    section.querySelector(".head").append(menu);
  }
  // One menu is open at a time, and Escape closes it.
  const menus = [...document.querySelectorAll("details.menu")];
  document.addEventListener("pointerdown", (event) => menus.forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; }));
  document.addEventListener("keydown", (event) => {
    const open = event.key === "Escape" && menus.find((menu) => menu.open);
    if (open) { open.open = false; open.querySelector("summary").focus(); }
  });
}

function wireCommands() {
  if (!start.live) return;
  for (const button of document.querySelectorAll("[data-command]")) {
    button.addEventListener("click", async () => {
      byId("commands").open = false;
      try {
        const { command } = await (await post("/api/command", { state: view.state, row: view.row, command: button.dataset.command })).json();
        await copyText(command, "Copied: " + (command.includes("\n") ? command.split("\n").at(-1) + " (with the lines it needs before)" : command));
        view.command = command;
        document.body.dataset.command = command;
      } catch (error) {
        failed(error);
      }
    });
  }
}
