// The last decisions, each with what its choice hung on. While one is open the list holds still.

import { uncertain } from "./bars.js";
import { byId, make, say } from "./dom.js";
import { atClock, counted, fixed, number } from "./words.js";

const FIRST = 12; // shown until all are asked for
const STATES = { waiting: "◌ waiting", rewarded: "● rewarded", expired: "○ wait over", unshown: "– never shown" };
const REASONS = {
  score: "It had the highest score: its estimate plus its uncertainty.",
  chance: "Another has the highest score now: this was a tie, a probe or a draw, or rewards that came since changed the scores.",
  explored: "It was drawn evenly from all, to explore.",
  baseline: "It was the caller’s own choice.",
};

const rows = new Map(); // by id: { row, detail, cells }
const open = new Set();
const body = make("tbody");
const more = make("button", { type: "button", class: "more", click: () => ((all = !all), renew()) });
let all = false;
let last = null;
let experiment = null;
let place = null;

function build() {
  const titles = ["Time", "Action", "State", "Reward"].map((title) =>
    make("th", { scope: "col", class: title === "Reward" ? "number" : null }, title));
  const caption = make("caption", { class: "unseen" }, "The last decisions, the newest first");
  place = byId("decisions");
  place.append(make("table", { class: "decisions" }, caption, make("thead", {}, make("tr", {}, ...titles)), body), more);
}

export function render(view) {
  if (!place) build();
  if (experiment !== view.live.experiment.name) forget(view.live.experiment.name);
  last = view;
  if (open.size) refresh();
  else renew();
}

function forget(name) {
  experiment = name;
  rows.clear();
  open.clear();
  body.replaceChildren();
}

/** What came since goes on top; rows that stay are not moved, so that the focus stays too. */
function renew() {
  const recent = last.live.recent.slice(0, all ? undefined : FIRST);
  const ids = new Set(recent.map(({ id }) => id));
  for (const [id, { row, detail }] of rows) {
    if (!ids.has(id)) [row, detail].forEach((element) => element.remove()), rows.delete(id), open.delete(id);
  }
  let next = body.firstChild;
  for (const decision of recent) {
    if (!rows.has(decision.id)) {
      const made = rowOf(decision.id);
      rows.set(decision.id, made);
      body.insertBefore(made.row, next);
      body.insertBefore(made.detail, next);
    }
    next = rows.get(decision.id).detail.nextSibling;
  }
  refresh();
}

function refresh() {
  const known = new Map(last.live.recent.map((decision) => [decision.id, decision]));
  for (const [id, each] of rows) if (known.has(id)) tell(each, known.get(id));
  const newer = last.live.recent.findIndex(({ id }) => rows.has(id));
  const held = newer < 0 ? last.live.recent.length : newer;
  const still = held ? `Held while one is open: ${counted(held, "newer decision")}${newer < 0 ? " or more" : ""}.` : "Held while one is open.";
  say(byId("decisions-lead"), open.size ? still : "The newest first. Open one to see why.");
  more.hidden = last.live.recent.length <= FIRST || open.size > 0;
  say(more, all ? `Show the last ${FIRST}` : `Show the last ${last.live.recent.length}`);
}

function rowOf(id) {
  const cells = ["time", "action", "state", "number"].map((kind) => make("td", { class: kind }));
  const detail = make("tr", { class: "detail", hidden: true }, make("td", { colspan: "4" }));
  const button = make("button", { type: "button", class: "unfold", "aria-expanded": "false", click: () => toggle(id) });
  cells[0].append(button);
  return { row: make("tr", {}, ...cells), detail, cells, button, decision: null };
}

function tell(each, decision) {
  const [, action, state, reward] = each.cells;
  const name = nameOf(decision);
  each.decision = decision;
  say(each.button, atClock(decision.at));
  each.button.setAttribute("aria-label", `${atClock(decision.at)}, ${name}: why`);
  say(action, name);
  say(state, STATES[decision.state] ?? decision.state);
  const otherwise = decision.state === "expired" ? last.live.experiment.settings.default : null; // what is learnt without a reward
  say(reward, number(decision.reward ?? otherwise));
}

const nameOf = ({ action, index }) => action ?? `arm ${index}`;

function toggle(id) {
  const each = rows.get(id);
  const opening = !open.has(id);
  if (opening) open.add(id);
  else open.delete(id);
  each.button.setAttribute("aria-expanded", String(opening));
  each.detail.hidden = !opening;
  if (opening) explain(each);
  if (open.size) refresh();
  else renew();
}

/** Once: what was thought at about the time of the decision. */
function explain({ detail, decision }) {
  const cell = detail.firstElementChild;
  if (cell.hasChildNodes()) return;
  const { opinions, hung_on: reason, round, id } = decision;
  cell.append(
    make("p", {}, REASONS[reason] ?? ""),
    opinions.length ? opinionsOf(opinions, decision) : make("p", {}, "What was on offer is not known any more."),
    make("p", { class: "id" }, `Round ${round}, id `, make("code", {}, id)),
  );
}

function opinionsOf(opinions, decision) {
  const best = Math.max(...opinions.map(({ score }) => score));
  const reach = Math.max(1e-9, ...opinions.map(({ estimate, width }) => Math.abs(estimate) + width));
  const floor = Math.min(0, ...opinions.map(({ estimate, width }) => estimate - width));
  const chosen = (opinion) => (decision.action === null ? opinion.index === decision.index : opinion.action === decision.action);
  const line = (opinion) =>
    make(
      "tr",
      { class: chosen(opinion) ? "chosen" : null },
      make("th", { scope: "row" }, nameOf(opinion), chosen(opinion) ? make("span", { class: "tag" }, "chosen") : null),
      make("td", { class: "bars" }, uncertain(opinion.estimate, opinion.width, reach, floor)),
      make("td", { class: "number" }, fixed(opinion.estimate, 3)),
      make("td", { class: "number" }, opinion.width === null ? "–" : `±\u202f${fixed(opinion.width, 3)}`),
      make("td", { class: "number" }, fixed(opinion.score, 3), opinion.score === best ? make("span", { class: "best" }, " highest") : null),
    );
  const heads = [["Action"], [""], ["Estimate", 1], ["Uncertainty", 1], ["Score", 1]];
  const head = heads.map(([title, right]) => make(title ? "th" : "td", { scope: title ? "col" : null, class: right ? "number" : title ? null : "bars" }, title));
  const ranked = opinions.toSorted((one, other) => other.score - one.score);
  return make("table", { class: "opinions" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...ranked.map(line)));
}
