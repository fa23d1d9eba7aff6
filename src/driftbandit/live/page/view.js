// From what the server tells to what all parts of the page share, and to the parts.

import * as decisions from "./decisions.js";
import { byId, make, say } from "./dom.js";
import * as features from "./features.js";
import * as memory from "./memory.js";
import * as pace from "./pace.js";
import { between, binned, spreadOf, summary, widthOf } from "./pool.js";
import * as rewards from "./rewards.js";
import * as traffic from "./traffic.js";
import { LATELY, latelyName, verdict } from "./verdict.js";
import * as waiting from "./waiting.js";
import { atTime, count, number } from "./words.js";

const CHARTS = [rewards, traffic, memory, pace];

/** Every second: words, tiles, decisions. */
export function renderNow(live, history) {
  const view = viewOf(live, history);
  const said = verdict(live, history);
  say(byId("title"), `Is “${live.experiment.name}” learning?`);
  tellVerdict(said, live.experiment.warning);
  tiles(view);
  waiting.render(view);
  decisions.render(view);
  about(live.experiment);
  return said;
}

/** With each history: charts, and the table of features, which would be restless by the second. */
export function renderHistory(live, history) {
  const view = viewOf(live, history);
  if (history.decisions.some((n) => n > 0)) for (const part of CHARTS) part.render(view);
  features.render(view);
}

function viewOf(live, history) {
  const bins = binned(history, widthOf(history), live.now);
  const from = history.times.findIndex((time) => time >= live.now - LATELY[history.span]);
  const spread = spreadOf(history);
  const lately = (series) => summary(between(series, from, history.times.length), spread);
  const decided = (series) => series.decisions.slice(from).reduce((sum, n) => sum + n, 0);
  const total = decided(history) || 1;
  const actions = bins.actions.map((action, place) => {
    const own = history.actions[place];
    return { ...action, place, lately: lately(own), share: decided(own) / total, all: own.decisions.reduce((sum, n) => sum + n, 0) };
  });
  const begin = bins.times.length ? bins.times[0] - bins.step / 2 : live.now - 60;
  return {
    live,
    history,
    bins,
    spread,
    ranked: actions.filter((action) => action.all > 0).toSorted((one, other) => other.all - one.all),
    lately: lately(history),
    latelyName: latelyName(live, history),
    x: [Math.min(begin, live.now - 60), live.now],
  };
}

function tellVerdict({ kind, headline, sentences }, warning) {
  const line = byId("verdict");
  line.dataset.kind = kind;
  say(line, headline);
  const items = warning ? [`Warning: ${warning}`, ...sentences] : sentences;
  const list = byId("sentences");
  while (list.children.length > items.length) list.lastChild.remove();
  items.forEach((text, k) => say(list.children[k] ?? list.appendChild(make("li")), text));
}

function tiles({ live, lately, latelyName }) {
  const { experiment, rates } = live;
  const range = lately.mean === null ? latelyName : `${number(lately.low)} to ${number(lately.high)}`;
  const each = [
    ["Decisions", number(rates.decisions), "per second"],
    ["Outcomes", number(rates.rewards), "learnt per second"],
    ["Mean reward", number(lately.mean), range],
    ["Waiting", count(experiment.waiting), "for their reward"],
    ["Memory", experiment.memory === null ? "–" : count(Math.round(experiment.memory)), "outcomes"],
    ["Rounds", count(experiment.round), "in all"],
  ];
  const list = byId("tiles");
  if (!list.children.length) list.append(...each.map(([name]) => make("div", {}, make("dt", {}, name), make("dd"), make("dd", { class: "unit" }))));
  each.forEach(([, value, unit], k) => {
    const [, figure, below] = list.children[k].children;
    say(figure, value);
    say(below, unit);
  });
}

function about({ policy, created, counts, records, digest }) {
  const since = atTime(created, 1800);
  say(byId("about"), `${policy}, since ${since}: ${count(counts.decisions)} decisions; ${count(records)} records in the journal; state ${digest.slice(0, 12)}.`);
}
