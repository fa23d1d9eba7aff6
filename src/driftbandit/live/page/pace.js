// Decisions and learnt outcomes per second.

import { byId, folded, make, table } from "./dom.js";
import { Plot, colour } from "./plot.js";
import { atTime, number, tick } from "./words.js";

const plot = new Plot(210);
const key = make(
  "p",
  { class: "key" },
  make("span", { class: "dash solid", "aria-hidden": "true" }),
  "decisions",
  make("span", { class: "dash broken", "aria-hidden": "true" }),
  "outcomes",
);
const numbers = folded("As a table", () => asTable(last));
let last;
let place = null;

export function render(view) {
  last = view;
  if (!place) (place = byId("pace")).append(plot.element, key, numbers);
  const { bins, live } = view;
  const decisions = rate(bins, bins.all.decisions);
  const outcomes = rate(bins, bins.all.lots.map(([n]) => n));
  plot.show({
    shape: ["pace"],
    label: `Per second over time; in the last minute ${number(live.rates.decisions)} decisions and ${number(live.rates.rewards)} outcomes.`,
    x: view.x,
    y: [0, 1.15 * Math.max(0.001, ...decisions, ...outcomes)],
    bin: bins.step,
    data: [bins.times, decisions, outcomes],
    series: [
      { stroke: colour("line"), width: 2, points: { show: false } },
      { stroke: colour("other"), width: 2, dash: [6, 4], points: { show: false } },
    ],
    idle: "Per second. An outcome is a reward, or the default where none came; it counts when the policy learns it.",
    axes: { values: (_, splits) => splits.map(tick) },
    read: (k) => `${number(decisions[k])} decisions, ${number(outcomes[k])} outcomes per second`,
  });
  numbers.refresh();
}

const rate = (bins, counts) => counts.map((n, k) => n / bins.seconds[k]);

function asTable({ bins }) {
  const decisions = rate(bins, bins.all.decisions);
  const outcomes = rate(bins, bins.all.lots.map(([n]) => n));
  const rows = bins.times.map((time, k) => [atTime(time - bins.step / 2, bins.step), number(decisions[k]), number(outcomes[k])]);
  return table("Decisions and outcomes per second over time", [["Time"], ["Decisions", true], ["Outcomes", true]], rows.reverse());
}
