"use strict";
// What is shown, and the conversation with the server: one request at a time, the latest state wins.

const start = JSON.parse(document.getElementById("start").textContent);
const view = { state: start.state, result: start.result, selected: 0, row: start.dataset ? start.dataset.row : null };
const byId = (id) => document.getElementById(id);

// Two conversations: paths and charts come at once, the posterior as fast as it can.
const traffic = { fast: { busy: false, again: false }, slow: { busy: false, again: false } };

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

// Sends the current state until the answer belongs to it; changes made meanwhile are sent together.
async function converse(channel, posterior, show) {
  if (channel.busy) { channel.again = true; return; }
  channel.busy = true;
  try {
    do {
      channel.again = false;
      const answer = await (await post("/api/link", { ...view.state, posterior })).json();
      if (!channel.again) show(answer.result);
    } while (channel.again);
  } catch (error) {
    say(error.message);
  } finally {
    channel.busy = false;
  }
  if (channel.again) converse(channel, posterior, show);
}

function refresh() {
  if (!start.live) return;
  byId("posterior").classList.add("stale");
  converse(traffic.fast, false, (result) => {
    const { posterior_svg, posterior_caption } = view.result;
    view.result = { ...result, posterior_svg, posterior_caption };
    say("");
    showResult();
  });
  converse(traffic.slow, true, (result) => {
    view.result.posterior_svg = result.posterior_svg;
    view.result.posterior_caption = result.posterior_caption;
    view.result.notes = result.notes;
    byId("posterior").classList.remove("stale");
    showResult();
  });
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
// A number for people: a true minus sign, and none on a zero.
function shown(v, digits) {
  if (!Number.isFinite(v)) return "n/a";
  return (round(v, digits) + 0).toFixed(digits).replace("-", "\u2212");
}
