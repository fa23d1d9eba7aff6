// One chart: uPlot in the house's colours, as wide as its place, under a line of words that tells what is under the pointer.

import { make, say } from "./dom.js";
import { atTime } from "./words.js";

const { uPlot } = globalThis;
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const together = uPlot.sync("time");
export const COLOURS = 7;

export const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
export const colourOf = (place) => colour(`action-${1 + (place % COLOURS)}`);

/** The same colour, thinner. */
export const faint = (shade, share) => shade + Math.round(255 * share).toString(16).padStart(2, "0");

export class Plot {
  constructor(height) {
    this.height = height;
    this.readout = make("p", { class: "lead" });
    this.holder = make("div", { class: "plot", role: "img" });
    this.element = make("div", { class: "chart" }, this.readout, this.holder);
    this.x = [0, 1];
    this.y = [0, 1];
    new ResizeObserver(() => this.fit()).observe(this.holder);
  }

  /** `label` says in words what the picture shows, `read(k)` what there is at the k-th time, `idle` what to say else.
   *  The chart is made anew only where `shape` or the theme is another: else the numbers alone are exchanged. */
  show({ shape, label, x, y, bin, data, series, bands, axes = {}, hooks = {}, padding, read, idle }) {
    Object.assign(this, { x, y, bin, read, idle });
    this.holder.setAttribute("aria-label", label);
    const key = JSON.stringify([shape, document.documentElement.dataset.theme]);
    if (key === this.key) this.plot.setData(data);
    else {
      this.key = key;
      this.plot?.destroy();
      this.plot = new uPlot(this.options({ series, bands, axes, hooks, padding }), data, this.holder);
    }
    this.tell();
  }

  options({ series, bands, axes, hooks, padding }) {
    const axis = {
      stroke: colour("muted"),
      font: FONT,
      grid: { stroke: colour("grid"), width: 1 },
      ticks: { show: false },
    };
    return {
      width: Math.max(this.holder.clientWidth, 100),
      height: this.height,
      padding: padding ?? [8, 32, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, sync: { key: together.key }, y: false, points: { size: 7 } },
      scales: { x: { time: true, range: () => this.x }, y: { range: () => this.y } },
      axes: [
        { ...axis, space: 70, size: 30, gap: 8, values: hours, grid: { show: false } },
        { ...axis, space: 32, size: 46, gap: 6, ...axes },
      ],
      series: [{}, ...series],
      bands,
      hooks: { setCursor: [() => this.tell()], ...hooks },
    };
  }

  tell() {
    const k = this.plot?.cursor.idx;
    const there = k != null && this.plot.cursor.left >= 0;
    say(this.readout, there ? `${atTime(this.plot.data[0][k], this.bin)} · ${this.read(k)}` : this.idle);
  }

  fit() {
    const width = this.holder.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.height });
  }
}

/** Hours and minutes; seconds only where they matter, days where there are several. */
function hours(plot, splits, place, space, step) {
  const long = plot.scales.x.max - plot.scales.x.min > 2 * 86400;
  const format = new Intl.DateTimeFormat("en-GB", long && step >= 86400
    ? { day: "numeric", month: "short" }
    : { hour: "2-digit", minute: "2-digit", ...(step < 60 ? { second: "2-digit" } : {}) });
  return splits.map((time) => format.format(1000 * time));
}

/** Both ends with some room, and never of no height. */
export function roomy(low, high, floor = -Infinity) {
  const room = 0.08 * (high - low) || Math.abs(high) || 1;
  return [Math.max(low - room, Math.min(floor, low)), high + room];
}
