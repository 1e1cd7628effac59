"use strict";
// Rows of a dataset, export, theme, and the first picture.

function showRow() {
  const row = view.row;
  byId("badge").textContent = start.measured ? "measured" : row ? "simulated, stored row" : "simulated";
  byId("title").textContent = start.dataset ? start.title : view.base.scene;
  if (!start.dataset) return;
  byId("dataset").hidden = false;
  const at = row || view.base.row;
  byId("split").value = at.split;
  byId("index").value = at.index;
  byId("index").max = start.dataset.splits[at.split] - 1;
  const rows = start.dataset.splits[byId("split").value] || 0;
  byId("rows").textContent = "of " + rows + (row ? "" : " (changed: no longer the stored row)");
}

function goToRow(split, index) {
  const rows = start.dataset.splits[split] || 0;
  if (rows) goTo({ scene: start.state.scene, row: { split, index: Math.min(Math.max(index, 0), rows - 1) } });
  else say("The split " + split + " has no rows.");
}

async function exportPage() {
  try {
    download("magnetar-view.html", await (await post("/api/export", { ...view.state, posterior: true })).blob());
  } catch (error) {
    failed(error);
  }
}

function wireDataset() {
  if (!start.dataset) return;
  byId("split").append(...Object.keys(start.dataset.splits).map((name) => new Option(name, name)));
  const index = () => byId("index").valueAsNumber || 0;
  byId("split").addEventListener("change", (event) => goToRow(event.target.value, 0));
  byId("index").addEventListener("change", () => goToRow(byId("split").value, index()));
  byId("previous").addEventListener("click", () => goToRow(byId("split").value, index() - 1));
  byId("next").addEventListener("click", () => goToRow(byId("split").value, index() + 1));
  for (const id of ["split", "index", "previous", "next"]) byId(id).disabled = !start.live;
}

function setTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  draw3d();
  draw3dVolume();
}

function wireTheme() {
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  byId("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || (dark() ? "dark" : "light");
    view.theme = now === "dark" ? "light" : "dark";
    setTheme(view.theme);
    note();
  });
}

function showAll() {
  showRow();
  showDevices();
  showResult();
  refreshFloor();
}

wirePlan();
wireCamera(byId("room3d"), roomCamera, draw3d);
wireCamera(byId("volume"), volumeCamera, draw3dVolume);
wirePanels();
wireFloor();
wireDataset();
wireTheme();
wireSave();
wireCommands();
wireHover();
wirePlay();
byId("offline").hidden = start.live;
if (start.live) byId("export").addEventListener("click", exportPage);
showAll();
wireAddress();
