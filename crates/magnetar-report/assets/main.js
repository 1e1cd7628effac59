"use strict";
// Rows of a dataset, export, theme, and the first picture.

function showRow() {
  const row = view.row;
  byId("badge").textContent = row ? "simulated, stored row" : "simulated";
  if (!start.dataset) return;
  byId("dataset").hidden = false;
  if (row) {
    byId("split").value = row.split;
    byId("index").value = row.index;
    byId("index").max = start.dataset.splits[row.split] - 1;
  }
  const rows = start.dataset.splits[byId("split").value] || 0;
  byId("rows").textContent = "of " + rows + (row ? "" : " (changed: no longer the stored row)");
}

async function goTo(split, index) {
  const rows = start.dataset.splits[split] || 0;
  if (!rows) { say("The split " + split + " has no rows."); return; }
  const row = { split, index: Math.min(Math.max(index, 0), rows - 1) };
  try {
    const answer = await (await post("/api/row", row)).json();
    [view.state, view.result, view.row, view.selected] = [answer.state, answer.result, row, 0];
    say("");
    showAll();
  } catch (error) {
    say(error.message);
  }
}

async function exportPage() {
  try {
    const answer = await post("/api/export", view.state);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await answer.blob());
    link.download = "magnetar-view.html";
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    say(error.message);
  }
}

function wireDataset() {
  if (!start.dataset) return;
  byId("split").append(...Object.keys(start.dataset.splits).map((name) => new Option(name, name)));
  const index = () => byId("index").valueAsNumber || 0;
  byId("split").addEventListener("change", (event) => goTo(event.target.value, 0));
  byId("index").addEventListener("change", () => goTo(byId("split").value, index()));
  byId("previous").addEventListener("click", () => goTo(byId("split").value, index() - 1));
  byId("next").addEventListener("click", () => goTo(byId("split").value, index() + 1));
  for (const id of ["split", "index", "previous", "next"]) byId(id).disabled = !start.live;
}

function wireTheme() {
  const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
  byId("theme").addEventListener("click", () => {
    const now = document.documentElement.dataset.theme || (dark() ? "dark" : "light");
    document.documentElement.dataset.theme = now === "dark" ? "light" : "dark";
    draw3d();
  });
}

function showAll() {
  showRow();
  showDevices();
  showResult();
}

wirePlan();
wire3d();
wirePanels();
wireDataset();
wireTheme();
byId("export").disabled = !start.live;
byId("export").addEventListener("click", exportPage);
byId("offline").hidden = start.live;
showAll();
