// The page: which experiment, which span, and in what state the connection is.

import { byId, make, say } from "./dom.js";
import { Refusal, experiments, history, listen, token } from "./server.js";
import { renderHistory, renderNow } from "./view.js";
import { atClock, counted } from "./words.js";

const SPANS = { "30m": "30 minutes", "7d": "7 days" };
const OFTEN = { "30m": 5000, "7d": 60_000 }; // milliseconds between two histories
const LISTING = 10_000;
const STATES = { connecting: "Connecting", live: "Live", paused: "Paused", disconnected: "Disconnected", refused: "Locked", empty: "Live" };

let names = [];
let chosen = null;
let span = "30m";
let paused = false;
let life = new AbortController(); // of the present connection
let known = { live: null, history: null, kind: null };

// --- what state it is in -----------------------------------------------------------------------------------------------

function be(state) {
  if (document.body.dataset.state !== state) {
    if (state !== "empty") say(byId("announcer"), STATES[state]);
    document.body.dataset.state = state;
  }
  say(byId("connection"), paused && state === "live" ? STATES.paused : STATES[state]);
}

function notice(title, text = "", { example = null, form = false, retry = false } = {}) {
  byId("notice").hidden = title === null;
  say(byId("notice-title"), title ?? "");
  say(byId("notice-text"), text);
  byId("notice-example").hidden = example === null;
  say(byId("notice-example"), example ?? "");
  byId("token-form").hidden = !form;
  byId("retry").hidden = !retry;
}

function locked(error) {
  be("refused");
  byId("board").hidden = true;
  const why = error.status === 403 ? `The server says: ${error.message}.` : "The server does not know it. Is it whole, and not revoked?";
  if (token.get() === null) notice("A token is needed", "This service shows itself to those who have a token.", { form: true });
  else notice("This token does not open it", why, { form: true });
  byId("token").focus();
}

async function lost(error, pause, signal) {
  be("disconnected");
  const when = known.live ? ` What you see is from ${atClock(known.live.now)}.` : "";
  const why = error instanceof Refusal ? `The server says: ${error.message}.` : "The server cannot be reached.";
  notice("Disconnected", `${why}${when} Trying again in ${counted(pause / 1000, "second")}.`, { retry: true });
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, pause);
    byId("retry").onclick = resolve;
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()));
  });
}

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
      if (error.status !== 404) await lost(error, pause, signal);
      else return gone(error);
      pause = Math.min(2 * pause, 15_000);
    }
  }
}

async function follow(signal, well) {
  if (!known.live) {
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

function gone(error) {
  be("empty");
  byId("board").hidden = true;
  notice("No such experiment", `The server says: ${error.message}.${names.length ? " Choose another above." : ""}`);
}

function nothing() {
  be("empty");
  byId("board").hidden = true;
  const at = new URL("v1/experiments/shop", location.href.split("#")[0]).href;
  const example = `curl --json '{"actions": ["red", "green"]}' -X PUT ${at}`;
  notice("No experiments yet", "Make one, and it will be shown here:", { example });
}

// --- what it shows -----------------------------------------------------------------------------------------------------

function now() {
  be("live");
  if (paused || !known.history) return;
  const { live } = known;
  const any = live.experiment.counts.decisions > 0;
  byId("board").hidden = !any;
  if (!any) {
    const at = new URL(`v1/experiments/${chosen}/decisions`, location.href.split("#")[0]).href;
    const body = live.experiment.kind === "chooser" ? '{"id": "visit-1", "context": {}}' : '{"id": "visit-1", "set": "all"}';
    notice("No decisions yet", `“${chosen}” is ready. Ask it for a decision:`, { example: `curl --json '${body}' ${at}` });
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
    be(document.body.dataset.state);
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
