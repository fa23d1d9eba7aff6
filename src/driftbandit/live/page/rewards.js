// Reward by action: small pictures on one scale, all actions first, each with its 95 % interval.

import { byId, folded, make, say, table } from "./dom.js";
import { Plot, colour, colourOf, faint, roomy } from "./plot.js";
import { atTime, counted, lasting, number, percent } from "./words.js";

const FIRST = 6; // actions shown until all are asked for

const panels = new Map();
let all = false;

const more = make("button", { type: "button", class: "more", click: () => ((all = !all), render(last)) });
const numbers = folded("As a table", () => asTable(last));
let last;

export function render(view) {
  last = view;
  const { bins, ranked } = view;
  const shown = all ? ranked : ranked.slice(0, FIRST);
  say(byId("reward-lead"), `Mean reward in steps of ${lasting(bins.step)}. The shaded band is the 95 % interval; the grey line is the mean of all decisions.`);
  const y = scaleOf([bins.all, ...shown]);
  const wanted = [panelOf("all:", view, y, null), ...shown.map((action) => panelOf(action.name, view, y, action))];
  more.hidden = ranked.length <= FIRST;
  say(more, all ? `Show the ${FIRST} busiest` : `Show all ${ranked.length} actions`);
  arrange(byId("rewards"), [...wanted, more, numbers]);
  for (const { draw } of wanted.map((element) => panels.get(element.dataset.key))) draw();
  numbers.refresh();
}

/** In this order, touching only what is out of place. */
function arrange(holder, elements) {
  elements.forEach((element, k) => holder.children[k] !== element && holder.insertBefore(element, holder.children[k] ?? null));
  while (holder.children.length > elements.length) holder.lastElementChild.remove();
}

/** From what is known well enough: one early bin of two rewards must not flatten all others. */
function scaleOf(series) {
  const points = series.flatMap((each) => each.rewards).filter((point) => point.mean !== null);
  const ends = points.flatMap((point) => (point.n >= 8 && point.low !== null ? [point.low, point.high] : [point.mean]));
  if (!ends.length) return [0, 1];
  const low = Math.min(...ends);
  const positive = points.every((point) => point.mean >= 0);
  return roomy(positive ? Math.max(low, 0) : low, Math.max(...ends), positive ? 0 : -Infinity);
}

function panelOf(key, view, y, action) {
  let panel = panels.get(key);
  if (!panel) {
    const plot = new Plot(action ? 132 : 168);
    const fact = make("p", { class: "fact" });
    const name = action ? action.name : "All decisions";
    const swatch = make("span", { class: action ? "swatch" : "swatch grey", "aria-hidden": "true" });
    const element = make(
      "article",
      { class: action ? "panel" : "panel broad", "data-key": key },
      make("h3", {}, swatch, make("span", { class: "name" }, name)),
      fact,
      plot.element,
    );
    panel = { plot, fact, element, swatch };
    panels.set(key, panel);
  }
  panel.draw = () => drawPanel(panel, view, y, action);
  return panel.element;
}

function drawPanel({ plot, fact, swatch }, view, y, action) {
  const { bins } = view;
  const shade = action ? colourOf(action.place) : colour("text");
  const points = (action ?? bins.all).rewards;
  swatch.style.background = action ? shade : colour("text");
  const now = action ? action.lately : view.lately;
  const told = inWords(now);
  say(fact, action ? `${told} · ${percent(action.share)} of traffic` : `${told} · ${view.latelyName}`);
  plot.show({
    shape: [action?.place ?? "all"],
    label: `Mean reward of ${action ? action.name : "all decisions"} over time; ${view.latelyName} ${told}.`,
    x: view.x,
    y,
    bin: bins.step,
    data: [bins.times, ...["low", "high"].map((end) => column(points, end)), bins.all.rewards.map((p) => p.mean), column(points, "mean")],
    series: [
      { stroke: "transparent", points: { show: false } },
      { stroke: "transparent", points: { show: false } },
      { stroke: action ? colour("quiet") : "transparent", width: 1.5, spanGaps: true, points: { show: false } },
      { stroke: shade, width: 2, spanGaps: true, points: { show: true, size: 4, fill: shade, width: 0 } },
    ],
    bands: [{ series: [2, 1], fill: faint(shade, 0.18) }],
    axes: { values: (_, splits) => splits.map(number) },
    read: (k) => `${inWords(points[k])}, ${counted(points[k].n, "reward")}`,
  });
}

const column = (points, key) => points.map((point) => point[key]);

function inWords({ mean, low, high }) {
  if (mean === null) return "no reward";
  return low === null ? number(mean) : `${number(mean)} (${number(low)} to ${number(high)})`;
}

function asTable({ bins, ranked }) {
  const columns = [["Time"], ["All decisions", true], ...ranked.map((action) => [action.name, true])];
  const rows = bins.times.map((time, k) => [
    atTime(time - bins.step / 2, bins.step),
    ...[bins.all, ...ranked].map((each) => inWords(each.rewards[k])),
  ]);
  return table("Mean reward by action over time, with 95 % intervals", columns, rows.reverse());
}
