// The memory in use, and when the policy started over.

import { byId, folded, make, say, table } from "./dom.js";
import { Plot, colour, faint } from "./plot.js";
import { SHORTER, shortened } from "./verdict.js";
import { atTime, count, counted, number } from "./words.js";

const plot = new Plot(210);
const restarts = make("ul", { class: "marks" });
const nothing = make("p", { class: "nothing" });
const numbers = folded("As a table", () => asTable(last));
let last;
let place = null;

export function render(view) {
  last = view;
  if (!place) (place = byId("memory")).append(nothing, plot.element, restarts, numbers);
  const { history, live } = view;
  const known = live.experiment.memory !== null;
  for (const element of [plot.element, restarts, numbers]) element.hidden = !known;
  nothing.hidden = known;
  say(nothing, `${live.experiment.policy} does not tell how much it remembers; AdaptiveUCB and DetectUCB do.`);
  if (!known) return;
  const highest = Math.max(1, ...history.memory);
  const from = history.memory.findIndex((level) => level !== null);
  plot.show({
    shape: ["memory"],
    label: `Memory in use over time: now ${counted(Math.round(live.experiment.memory), "outcome")}; ${counted(history.restarts.length, "restart")}.`,
    x: view.x,
    y: [0, 1.1 * highest],
    bin: history.width,
    data: [history.times.slice(from), history.memory.slice(from)],
    series: [{ stroke: colour("line"), width: 2, fill: faint(colour("line"), 0.14), spanGaps: true, points: { size: 4 } }],
    idle: "Outcomes that the policy learns from. A dashed line: it found older ones outdated and started over.",
    axes: { values: (_, splits) => splits.map((split) => (split % 1 ? "" : count(split))) },
    hooks: { draw: [(chart) => marks(chart, last.history.restarts)] },
    read: (k) => (plot.plot.data[1][k] === null ? "not known" : counted(Math.round(plot.plot.data[1][k]), "outcome")),
  });
  list(history, live);
  numbers.refresh();
}

function marks(chart, each) {
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour("bad");
  ctx.lineWidth = 1.5 * scale;
  for (const { at } of each.filter((restart) => restart.at >= chart.scales.x.min)) {
    const x = chart.valToPos(at, "x", true);
    ctx.setLineDash([5 * scale, 4 * scale]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.moveTo(x - 5 * scale, bbox.top);
    ctx.lineTo(x + 5 * scale, bbox.top);
    ctx.lineTo(x, bbox.top + 7 * scale);
    ctx.fill();
  }
  ctx.restore();
}

function list(history, live) {
  const { restarts: each, width } = history;
  const when = (at) => (at === null ? "" : `, ${width < 60 ? "" : "after "}${atTime(at, width)}`);
  const words = each.slice(-3).map(({ round, at }) => `Restart at round ${number(round)}${when(at)}`);
  if (!words.length) words.push("No restart so far");
  if (shortened(live, history)) words.push(SHORTER);
  const key = words.join();
  if (restarts.dataset.key === key) return;
  restarts.dataset.key = key;
  restarts.replaceChildren(...words.map((text) => make("li", {}, text)));
}

function asTable({ history }) {
  const rows = history.times.map((time, k) => [time, history.memory[k]]).filter(([, level]) => level !== null);
  const step = Math.max(1, Math.ceil(rows.length / 60));
  const shown = rows.toReversed().filter((_, k) => k % step === 0);
  return table("Memory in use over time", [["Time"], ["Outcomes remembered", true]],
    shown.map(([time, level]) => [atTime(time, history.width), count(Math.round(level))]));
}
