// The page: which experiment, which span, and in what state the connection is.

import { byId, make, say } from "./dom.js";
import { experiments, history, listen, token } from "./server.js";
import { be, gone, locked, lost, nothing, notice, undecided } from "./state.js";
import { renderHistory, renderNow } from "./view.js";

const SPANS = { "30m": "30 minutes", "7d": "7 days" };
const OFTEN = { "30m": 5000, "7d": 60_000 }; // milliseconds between two histories
const LISTING = 10_000;

let names = [];
let chosen = null;
let span = "30m";
let paused = false;
let life = new AbortController(); // of the present connection
let known = { live: null, history: null, kind: null };

// --- the connection ----------------------------------------------------------------------------------------------------

async function connect() {
  life.abort();
  const { signal } = (life = new AbortController());
  let pause = 1000;
  while (!signal.aborted) {
    try {
      await follow(signal, () => (pause = 1000));
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401 || error.status === 403) return locked(error);
      if (error.status !== 404) await lost(error, known.live?.now, pause, signal);
      else return gone(error, names.length > 0);
      pause = Math.min(2 * pause, 15_000);
    }
  }
}

async function follow(signal, well) {
  if (!known.live && document.body.dataset.state !== "empty") {
    be("connecting");
    notice("Connecting…");
  }
  await enlist(signal);
  if (chosen === null) {
    nothing();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return;
  }
  const name = chosen;
  let due = 0;
  await listen(name, signal, async (live) => {
    well();
    known.live = live;
    if (performance.now() >= due) {
      due = Infinity; // until this one is there
      known.history = await history(name, span, signal).catch(() => known.history);
      due = performance.now() + (known.history?.rewards.some(Boolean) ? OFTEN[span] : 500); // what is new is shown at once
      if (!signal.aborted && !paused && known.history) charts();
    }
    if (!signal.aborted) now();
  });
}

// --- what it shows -----------------------------------------------------------------------------------------------------

function now() {
  be("live", paused);
  if (!byId("board").hidden) notice(null);
  if (paused || !known.history) return;
  const { live } = known;
  const any = live.experiment.counts.decisions > 0;
  byId("board").hidden = !any;
  if (!any) {
    undecided(live.experiment);
    return;
  }
  notice(null);
  const { kind, headline } = renderNow(live, known.history);
  if (kind !== known.kind) say(byId("announcer"), headline); // only when the answer is another, not by the second
  known.kind = kind;
}

function charts() {
  const board = byId("board");
  board.hidden = known.live.experiment.counts.decisions === 0; // charts need to know their width
  renderHistory(known.live, known.history);
}

async function enlist(signal) {
  const listed = await experiments(signal);
  names = listed.map(({ name }) => name);
  if (chosen === null || location.hash === "") chosen = names[0] ?? null;
  const items = names.map((name) =>
    make("li", {}, make("a", { href: `#${encodeURIComponent(name)}`, "aria-current": name === chosen ? "page" : null }, name)));
  const nav = byId("experiments");
  const key = JSON.stringify([names, chosen]);
  if (nav.dataset.key === key) return;
  nav.dataset.key = key;
  nav.replaceChildren(make("ul", {}, ...items));
  document.title = chosen ? `${chosen} – driftbandit live` : "driftbandit live";
}

// --- what people do ----------------------------------------------------------------------------------------------------

function choose() {
  const asked = decodeURIComponent(location.hash.slice(1));
  if (asked === "content") return;
  chosen = asked || null;
  known = { live: null, history: null, kind: null };
  byId("board").hidden = true;
  notice(null);
  void connect();
}

function lookAt(wanted) {
  span = wanted;
  for (const button of byId("spans").children) button.setAttribute("aria-pressed", String(button.value === span));
  void connect();
}

function listenToPeople() {
  const spans = Object.entries(SPANS).map(([value, name]) =>
    make("button", { type: "button", value, "aria-pressed": String(value === span), click: () => lookAt(value) }, name));
  byId("spans").append(...spans);
  byId("skip").addEventListener("click", (event) => (event.preventDefault(), byId("content").focus()));
  byId("pause").addEventListener("click", () => {
    paused = !paused;
    byId("pause").setAttribute("aria-pressed", String(paused));
    say(byId("pause"), paused ? "Resume" : "Pause");
    be(document.body.dataset.state, paused);
    if (!paused && known.live && known.history) charts(), now();
  });
  byId("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    token.keep(byId("token").value.trim());
    byId("token").value = "";
    byId("forget").hidden = false;
    notice(null);
    void connect();
  });
  byId("forget").hidden = token.get() === null;
  byId("forget").addEventListener("click", () => (token.forget(), location.reload()));
  addEventListener("hashchange", choose);
  // A browser has six connections to one server: a page that nobody sees gives its own back.
  document.addEventListener("visibilitychange", () => (document.hidden ? life.abort() : connect()));
  new MutationObserver(() => known.live && known.history && charts()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  setInterval(() => ["live", "empty"].includes(document.body.dataset.state) && enlist(life.signal).catch(() => {}), LISTING);
}

listenToPeople();
choose();
