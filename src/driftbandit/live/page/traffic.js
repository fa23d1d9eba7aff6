// Traffic by action: shares on top of one another, named where they end.

import { byId, folded, table } from "./dom.js";
import { Plot, colour, colourOf, faint } from "./plot.js";
import { atTime, cut, percent } from "./words.js";

const MOST = 7; // the rest together
const LINE = 15; // pixels between two names

const plot = new Plot(250);
const numbers = folded("As a table", () => asTable(last));
let last;
let layers = [];
let place = null;

export function render(view) {
  last = view;
  if (!place) (place = byId("traffic")).append(plot.element, numbers);
  const { bins } = view;
  const totals = bins.all.decisions;
  layers = layersOf(view);
  const gutter = Math.min(150, 22 + 7 * Math.max(4, ...layers.map((layer) => layer.label.length)));
  plot.show({
    shape: [layers.map((layer) => layer.label), gutter],
    label: `Share of decisions by action over time; ${view.latelyName}: ${layers.map((each) => `${each.name} ${percent(each.share)}`).join(", ")}.`,
    x: view.x,
    y: [0, 1],
    bin: bins.step,
    data: [bins.times, ...stacked(layers, totals)],
    series: layers.map(({ shade }) => ({ stroke: colour("page"), width: 1, fill: null, points: { show: false }, shade })),
    bands: layers.slice(1).map((layer, k) => ({ series: [k + 2, k + 1], fill: faint(layer.shade, 0.85) })),
    idle: "The share of decisions that each action had.",
    axes: { values: (_, splits) => splits.map(percent) },
    padding: [8, gutter, 0, 0],
    hooks: { drawClear: [ground], draw: [names] },
    read: (k) => layers.filter((each) => each.decisions[k]).map((each) => `${each.name} ${percent(each.decisions[k] / totals[k])}`).join(", "),
  });
  numbers.refresh();
}

/** The lowest is a floor of nothing, so that every action is a band between two lines. */
function layersOf({ bins, ranked }) {
  const named = ranked.slice(0, ranked.length > MOST + 1 ? MOST : ranked.length);
  const rest = ranked.slice(named.length);
  const made = named.map((action) => ({ ...action, shade: colourOf(action.place), label: cut(action.name, 16) }));
  if (rest.length) {
    const decisions = bins.times.map((_, k) => rest.reduce((sum, action) => sum + action.decisions[k], 0));
    const share = rest.reduce((sum, action) => sum + action.share, 0);
    made.push({ name: `${rest.length} others`, label: `${rest.length} others`, decisions, share, shade: colour("quiet") });
  }
  return [{ name: "", label: "", decisions: bins.times.map(() => 0), share: 0, shade: colour("page") }, ...made.reverse()];
}

function stacked(each, totals) {
  let below = totals.map(() => 0);
  return each.map(({ decisions }) => {
    below = below.map((sum, k) => sum + decisions[k]);
    return below.map((sum, k) => (totals[k] ? sum / totals[k] : null));
  });
}

function ground({ ctx, bbox }) {
  ctx.save();
  ctx.fillStyle = colour("shade");
  ctx.fillRect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.restore();
}

/** Each at the height where its band ends, moved apart where they would touch. */
function names(chart) {
  const { ctx, bbox } = chart;
  const scale = devicePixelRatio;
  const end = chart.data[1].findLastIndex((value) => value !== null);
  if (end < 0) return;
  const heights = layers.map((_, k) => chart.valToPos(chart.data[k + 1][end], "y", true));
  const wanted = layers.slice(1).map((layer, k) => ({ layer, y: (heights[k] + heights[k + 1]) / 2 }));
  let lowest = bbox.top + bbox.height - 6 * scale;
  for (const each of wanted) lowest = (each.y = Math.min(each.y, lowest)) - LINE * scale;
  let highest = bbox.top + 6 * scale;
  for (const each of wanted.toReversed()) highest = (each.y = Math.max(each.y, highest)) + LINE * scale;
  ctx.save();
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.textAlign = "left";
  const left = bbox.left + bbox.width + 6 * scale;
  for (const { layer, y } of wanted) {
    ctx.fillStyle = layer.shade;
    ctx.fillRect(left, y - 4 * scale, 8 * scale, 8 * scale);
    ctx.fillStyle = colour("text");
    ctx.fillText(layer.label, left + 13 * scale, y);
  }
  ctx.restore();
}

function asTable({ bins, ranked }) {
  const columns = [["Time"], ["Decisions", true], ...ranked.map((action) => [action.name, true])];
  const rows = bins.times.map((time, k) => [
    atTime(time - bins.step / 2, bins.step),
    String(bins.all.decisions[k]),
    ...ranked.map((action) => (bins.all.decisions[k] ? percent(action.decisions[k] / bins.all.decisions[k]) : "–")),
  ]);
  return table("Share of decisions by action over time", columns, rows.reverse());
}
