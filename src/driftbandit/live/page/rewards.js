// Reward by action: small pictures on one scale, all actions first, each with its 95 % interval.

import { byId, folded, make, say, table } from "./dom.js";
import { Plot, colour, colourOf, faint, roomy } from "./plot.js";
import { gathered, summary } from "./pool.js";
import { atTime, counted, inWords, lasting, number, percent, tick } from "./words.js";

const FIRST = 6; // actions shown until all are asked for
const LEAST = 16; // outcomes in a point that is drawn: steps with fewer go together with the next

const panels = new Map();
let all = false;

const more = make("button", { type: "button", class: "more", click: () => ((all = !all), render(last)) });
const numbers = folded("As a table", () => asTable(last));
let last;

export function render(view) {
  last = view;
  const { bins, ranked } = view;
  const shown = all ? ranked : ranked.slice(0, FIRST);
  say(byId("reward-lead"), `Mean reward in steps of ${lasting(bins.step)} or of ${LEAST} outcomes, whichever is longer. The band is the 95\u202f% interval, the grey line the mean of all decisions.`);
  const y = scaleOf([bins.all, ...shown].flatMap((each) => points(view, each.lots)));
  const overall = panelOf("all:", view, null);
  const wanted = shown.map((action) => panelOf(`action:${action.name}`, view, action));
  more.hidden = ranked.length <= FIRST;
  say(more, all ? `Show the ${FIRST} busiest` : `Show all ${ranked.length} actions`);
  arrange(byId("overall"), [overall.element]);
  arrange(byId("rewards"), [...wanted.map((panel) => panel.element), more, numbers]);
  drawPanel(overall, view, scaleOf(points(view, bins.all.lots)), null); // only now, since a chart asks how wide its place is
  wanted.forEach((panel, k) => drawPanel(panel, view, y, shown[k]));
  numbers.refresh();
}

/** In this order, touching only what is out of place. */
function arrange(holder, elements) {
  elements.forEach((element, k) => holder.children[k] !== element && holder.insertBefore(element, holder.children[k] ?? null));
  while (holder.children.length > elements.length) holder.lastElementChild.remove();
}

const points = ({ spread }, lots) => gathered(lots, LEAST).map((lot) => summary(lot, spread));

function scaleOf(drawn) {
  const known = drawn.filter((point) => point.n);
  if (!known.length) return [0, 1];
  const positive = known.every((point) => point.mean >= 0);
  const low = Math.min(...known.map((point) => point.low));
  return roomy(positive ? Math.max(low, 0) : low, Math.max(...known.map((point) => point.high)), positive ? 0 : -Infinity);
}

function panelOf(key, view, action) {
  if (!panels.has(key)) {
    const plot = new Plot(action ? 132 : 190);
    const swatch = action && make("span", { class: "swatch", "aria-hidden": "true" });
    const title = make("h3", {}, swatch, make("span", { class: "name" }, action ? action.name : "Mean reward of all decisions"));
    panels.set(key, { plot, swatch, element: make("article", { class: "panel" }, title, plot.element) });
  }
  return panels.get(key);
}

function drawPanel({ plot, swatch }, view, y, action) {
  const { bins } = view;
  const shade = action ? colourOf(action.place) : colour("line");
  const drawn = points(view, (action ?? bins.all).lots);
  const told = inWords(action ? action.lately : view.lately);
  if (swatch) swatch.style.background = shade;
  plot.show({
    shape: [action?.place ?? "all"],
    label: `Mean reward of ${action ? action.name : "all decisions"} over time; ${view.latelyName} ${told}.`,
    idle: action ? `${told} · ${percent(action.share)} of traffic` : `${told} · ${view.latelyName}`,
    x: view.x,
    y,
    bin: bins.step,
    data: [bins.times, ...["low", "high"].map((end) => column(bins, drawn, end)), column(bins, points(view, bins.all.lots), "mean"), column(bins, drawn, "mean")],
    series: [
      { stroke: "transparent", points: { show: false } },
      { stroke: "transparent", points: { show: false } },
      { stroke: action ? colour("quiet") : "transparent", width: 1.5, points: { show: false } },
      { stroke: shade, width: 2, points: { show: true, size: 5, fill: shade, width: 0 } },
    ],
    bands: [{ series: [2, 1], fill: faint(shade, 0.18) }],
    axes: { values: (_, splits) => splits.map(tick) },
    read: (k) => (drawn[k].n ? `${inWords(drawn[k])}, ${counted(drawn[k].n, "outcome")}` : "too few outcomes"),
  });
}

/** A line goes on over bins with too few outcomes (undefined) and breaks where there was no traffic at all (null). */
export const column = ({ all }, drawn, key) => drawn.map((point, k) => point[key] ?? (all.lots[k][0] || all.decisions[k] ? undefined : null));

function asTable({ bins, ranked, spread }) {
  const columns = [["Time"], ["All decisions", true], ...ranked.map((action) => [action.name, true])];
  const rows = bins.times.map((time, k) => [
    atTime(time - bins.step / 2, bins.step),
    ...[bins.all, ...ranked].map((each) => inWords(summary(each.lots[k], spread))),
  ]);
  return table("Mean reward by action over time, with 95 % intervals", columns, rows.reverse());
}
