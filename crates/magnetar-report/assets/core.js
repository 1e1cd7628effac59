"use strict";
// What is shown, and the conversation with the server: one request at a time, the latest state wins.

const start = JSON.parse(document.getElementById("start").textContent);
const view = {
  state: start.state, result: start.result, row: start.dataset ? start.dataset.row : null,
  base: { scene: start.state.scene, row: start.dataset ? start.dataset.row : null }, baseState: copy(start.state),
  selected: 0, theme: null, tab: "marginal", floor: "none", coverage: null, lit: null, lost: 0,
};
const byId = (id) => document.getElementById(id);
function copy(value) { return JSON.parse(JSON.stringify(value)); }

// The receiver whose link is shown.
const receiver = (n = view.state.shown) => (n === 0 ? view.state.rx : view.state.views[n - 1]);
const receivers = () => [view.state.rx, ...view.state.views];

// Conversations: paths and charts come at once, the posterior and the floor's map as fast as they can.
const traffic = { fast: { busy: false, again: false }, slow: { busy: false, again: false }, floor: { busy: false, again: false } };

class Lost extends Error {}

async function post(path, value) {
  let answer;
  try {
    answer = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(value),
    });
  } catch {
    throw new Lost();
  }
  if (!answer.ok) {
    let reason = "the server answered " + answer.status;
    try { reason = (await answer.json()).error || reason; } catch { /* the status says enough */ }
    throw new Error(reason);
  }
  if (view.lost) { view.lost = 0; say(""); }
  return answer;
}

// Sends the current state until the answer belongs to it; changes made meanwhile are sent together.
async function converse(channel, path, extra, show) {
  if (channel.busy) { channel.again = true; return; }
  channel.busy = true;
  try {
    do {
      channel.again = false;
      const answer = await (await post(path, { ...view.state, ...extra })).json();
      if (!channel.again) show(answer);
    } while (channel.again);
  } catch (error) {
    failed(error);
  } finally {
    channel.busy = false;
  }
  if (channel.again && !view.lost) converse(channel, path, extra, show);
}

// The server is gone: says so, and asks again until it is back.
function lost() {
  if (view.lost) return;
  const again = async (tries) => {
    view.lost = tries;
    say("The server does not answer: was magnetar view stopped? Trying again; what is shown is the last answer.");
    await new Promise((done) => setTimeout(done, Math.min(5000, 500 * tries)));
    try {
      await post("/api/link", { ...view.state, posterior: false });
      refresh();
    } catch (error) {
      if (error instanceof Lost) again(tries + 1);
      else { view.lost = 0; say(error.message); }
    }
  };
  again(1);
}

function refresh() {
  if (!start.live) return;
  byId("posterior").classList.add("stale");
  converse(traffic.fast, "/api/link", { posterior: false }, ({ result }) => {
    const { posterior_svg, posterior_caption, posterior } = view.result;
    view.result = { ...result, posterior_svg, posterior_caption, posterior };
    say("");
    showResult();
  });
  converse(traffic.slow, "/api/link", { posterior: true }, ({ result }) => {
    for (const name of ["posterior_svg", "posterior_caption", "posterior", "notes"]) view.result[name] = result[name];
    byId("posterior").classList.remove("stale");
    showPosterior();
    showNotes();
  });
  refreshFloor();
}

// A change by the user: what is shown is no longer the stored row.
function changed(settled = true) {
  if (view.row) { view.row = null; showRow(); }
  showDevices();
  refresh();
  if (settled) rememberSoon();
}

// What could not be done: the server is gone, or says why not.
function failed(error) {
  if (error instanceof Lost) lost();
  else say(error.message);
}

function say(text) {
  byId("message").textContent = text;
  document.body.classList.toggle("failed", text !== "");
}

const wrapDegrees = (a) => ((a + 180) % 360 + 360) % 360 - 180;
const round = (v, digits) => Number(v.toFixed(digits));
// A number for people: a true minus sign, and none on a zero.
function shown(v, digits) {
  if (!Number.isFinite(v)) return "n/a";
  return (round(v, digits) + 0).toFixed(digits).replace("-", "\u2212");
}
