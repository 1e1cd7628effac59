"use strict";
// What is shown, and the conversation with the server: one request at a time, the latest state wins.

const start = JSON.parse(document.getElementById("start").textContent);
const view = { state: start.state, result: start.result, selected: 0, row: start.dataset ? start.dataset.row : null };
const byId = (id) => document.getElementById(id);

const traffic = { busy: false, again: false };

async function post(path, value) {
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(value),
  });
  if (!answer.ok) {
    let reason = "the server answered " + answer.status;
    try { reason = (await answer.json()).error || reason; } catch { /* the status says enough */ }
    throw new Error(reason);
  }
  return answer;
}

// Asks for the result of the current state; while an answer is under way, later changes wait and are sent together.
async function refresh() {
  if (!start.live) return;
  if (traffic.busy) { traffic.again = true; return; }
  traffic.busy = true;
  try {
    do {
      traffic.again = false;
      const answer = await (await post("/api/link", view.state)).json();
      if (!traffic.again) {
        view.result = answer.result;
        say("");
        showResult();
      }
    } while (traffic.again);
  } catch (error) {
    say(error.message);
  } finally {
    traffic.busy = false;
  }
  if (traffic.again) refresh();
}

// A change by the user: what is shown is no longer the stored row.
function changed() {
  if (view.row) { view.row = null; showRow(); }
  showDevices();
  refresh();
}

function say(text) {
  byId("message").textContent = text;
  document.body.classList.toggle("failed", text !== "");
  byId("results").classList.toggle("stale", text !== "");
}

const wrapDegrees = (a) => ((a + 180) % 360 + 360) % 360 - 180;
const round = (v, digits) => Number(v.toFixed(digits));
const shown = (v, digits) => Number.isFinite(v) ? v.toFixed(digits).replace("-", "\u2212") : "n/a";
