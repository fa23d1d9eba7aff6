// Decisions that wait, how long rewards take, and the caller's own decisions where there are any.

import { share } from "./bars.js";
import { byId, make, say, table } from "./dom.js";
import { count, inWords, lasting, number, percent } from "./words.js";

export function render({ live }) {
  const { experiment, delays } = live;
  const { settings, counts } = experiment;
  const told = delays.counts.reduce((sum, n) => sum + n, 0);
  say(byId("waiting-lead"), rule(settings));
  const facts = [
    ["Waiting now", count(experiment.waiting)],
    ["Rewarded", count(counts.rewards)],
    ["Wait was over", count(counts.expired)],
    ["Came too late", count(counts.late)],
    ...(counts.unshown ? [["Never shown", count(counts.unshown)]] : []),
    ["Mean delay", delays.mean === null ? "–" : lasting(delays.mean)],
  ];
  byId("waiting").replaceChildren(
    make("dl", { class: "facts" }, ...facts.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value)))),
    told ? histogram(delays, told) : make("p", { class: "nothing" }, "No reward has come yet."),
  );
  baseline(live);
}

function rule({ wait = 86400, default: otherwise }) {
  const after = otherwise == null ? "then it is never learnt" : `no reward until then counts as ${number(otherwise)}`;
  return `A decision waits ${lasting(wait)} for its reward; ${after}.`;
}

/** As a table with bars; empty ends are left out. */
function histogram({ bounds, counts }, told) {
  const names = [...bounds.map((bound) => `up to ${lasting(bound)}`), `over ${lasting(bounds.at(-1))}`];
  const first = counts.findIndex((n) => n > 0);
  const last = counts.findLastIndex((n) => n > 0);
  const rows = counts.slice(first, last + 1).map((n, k) => [names[first + k], share(n / told), percent(n / told), count(n)]);
  return table("Delay from decision to reward", [["Delay"], [""], ["Share", true], ["Rewards", true]], rows);
}

function baseline({ baseline: { decisions, agreed, where_agreed: same, where_differed: other } }) {
  byId("baseline-section").hidden = !decisions;
  if (!decisions) return;
  byId("baseline").replaceChildren(
    make("p", { class: "agreement" }, make("strong", {}, percent(agreed / decisions)), ` the same choice, in ${count(agreed)} of ${count(decisions)} decisions`),
    share(agreed / decisions),
    make("p", { class: "lead" }, `Where both chose the same the mean reward was ${inWords(same)}; where the policy would have chosen otherwise, ${inWords(other)}.`),
  );
}
