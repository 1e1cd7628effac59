"use strict";
// A device turns once around, or is carried along a straight track, step by step as the answers come.

const play = { running: false, at: 0, from: null };
const STEPS = { turn: 72, track: 50 };

const playWhat = () => byId("play-what").value.split("-");
const played = () => (playWhat()[0] === "tx" ? view.state.tx : receiver());

function showPlay() {
  const track = playWhat()[1] === "track";
  document.querySelectorAll(".track").forEach((label) => { label.hidden = !track; });
  if (track && byId("play-x").value === "") {
    // Somewhere to go: mirrored about the room's middle.
    const [x0, x1, y0, y1] = view.state.room_m, p = played().position_m, end = inside([x0 + x1 - p[0], y0 + y1 - p[1]], 0.1);
    [byId("play-x").value, byId("play-y").value] = [round(end[0], 2), round(end[1], 2)];
  }
  byId("play").textContent = play.running ? "Pause" : "Play";
  byId("play-at").value = play.at;
}

// Puts the device where it is at a part of the way, 0 to 1.
function playTo(at) {
  const device = played();
  if (!play.from) play.from = copy(device);
  play.at = at;
  if (playWhat()[1] === "turn") {
    device.heading_deg = round(wrapDegrees(play.from.heading_deg + 360 * at), 1);
  } else {
    const end = [byId("play-x").valueAsNumber || 0, byId("play-y").valueAsNumber || 0], [x, y] = play.from.position_m;
    const place = inside([x + at * (end[0] - x), y + at * (end[1] - y)], 0.02);
    [device.position_m[0], device.position_m[1]] = place;
  }
  changed(false);
}

async function run() {
  if (play.at >= 1) Object.assign(play, { at: 0, from: null });
  play.running = true;
  showPlay();
  const steps = STEPS[playWhat()[1]];
  while (play.running && play.at < 1) {
    const next = new Promise((done) => setTimeout(done, 50));
    playTo(Math.min(1, round(play.at + 1 / steps, 6)));
    await next;
    // No faster than paths and charts follow.
    while (traffic.fast.busy && !view.lost) await new Promise((done) => setTimeout(done, 5));
    if (view.lost) play.running = false;
  }
  stopPlay();
}

function stopPlay() {
  play.running = false;
  showPlay();
  remember();
}

function wirePlay() {
  if (!start.live) return;
  byId("play").addEventListener("click", () => { if (play.running) play.running = false; else run(); });
  byId("play-what").addEventListener("change", () => {
    Object.assign(play, { running: false, at: 0, from: null });
    byId("play-x").value = byId("play-y").value = "";
    showPlay();
  });
  for (const id of ["play-x", "play-y"]) byId(id).addEventListener("input", () => { Object.assign(play, { at: 0, from: null }); byId("play-at").value = 0; });
  byId("play-at").addEventListener("input", (event) => { play.running = false; playTo(event.target.valueAsNumber); });
  byId("play-at").addEventListener("change", remember);
}
