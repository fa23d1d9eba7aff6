// In what state the page is, in words: connecting, live, locked, disconnected, or nothing to show.

import { byId, say } from "./dom.js";
import { Refusal, token } from "./server.js";
import { atClock, counted } from "./words.js";

const STATES = { connecting: "Connecting", live: "Live", disconnected: "Disconnected", refused: "Locked", empty: "Live" };

/** Told aloud only when it is another. */
export function be(state, paused = false) {
  if (document.body.dataset.state !== state) {
    if (state !== "empty") say(byId("announcer"), STATES[state]);
    document.body.dataset.state = state;
  }
  say(byId("connection"), paused && state === "live" ? "Paused" : STATES[state]);
}

export function notice(title, text = "", { example = null, form = false, retry = false } = {}) {
  byId("notice").hidden = title === null;
  say(byId("notice-title"), title ?? "");
  say(byId("notice-text"), text);
  byId("notice-example").hidden = example === null;
  say(byId("notice-example"), example ?? "");
  byId("token-form").hidden = !form;
  byId("retry").hidden = !retry;
}

export function locked(error) {
  be("refused");
  byId("board").hidden = true;
  const why = error.status === 403 ? `The server says: ${error.message}.` : "The server does not know it. Is it whole, and not revoked?";
  if (token.get() === null) notice("A token is needed", "This service shows itself to those who have a token.", { form: true });
  else notice("This token does not open it", why, { form: true });
  byId("token").focus();
}

/** Until it is time to try again. */
export async function lost(error, since, pause, signal) {
  be("disconnected");
  const when = since ? ` What you see is from ${atClock(since)}.` : "";
  const why = error instanceof Refusal ? `The server says: ${error.message}.` : "The server cannot be reached.";
  notice("Disconnected", `${why}${when} Trying again in ${counted(pause / 1000, "second")}.`, { retry: true });
  await new Promise((resolve) => {
    const timer = setTimeout(resolve, pause);
    byId("retry").onclick = resolve;
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()));
  });
}

export function gone(error, others) {
  be("empty");
  byId("board").hidden = true;
  notice("No such experiment", `The server says: ${error.message}.${others ? " Choose another above." : ""}`);
}

export function nothing() {
  be("empty");
  byId("board").hidden = true;
  const example = `curl --json '{"actions": ["red", "green"]}' -X PUT ${address("v1/experiments/shop")}`;
  notice("No experiments yet", "Make one, and it will be shown here:", { example });
}

export function undecided({ name, kind }) {
  const body = kind === "chooser" ? '{"id": "visit-1", "context": {}}' : '{"id": "visit-1", "set": "all"}';
  const example = `curl --json '${body}' ${address(`v1/experiments/${name}/decisions`)}`;
  notice("No decisions yet", `“${name}” is ready. Ask it for a decision:`, { example });
}

const address = (path) => new URL(path, location.href.split("#")[0]).href;
