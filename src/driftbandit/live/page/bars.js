// Bars inside of tables: the number stands beside them, so they are for the eye alone.

import { draw } from "./dom.js";

/** From nought to the value, and a line for how far it may be off; both on a scale from -reach to reach. */
export function uncertain(value, width, reach, floor = -reach) {
  const span = reach - floor;
  const at = (x) => 100 * (Math.min(Math.max(x, floor), reach) - floor) / span;
  const [from, to] = [at(Math.min(0, value)), at(Math.max(0, value))];
  return draw(
    "svg",
    { class: "bar", viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("line", { class: "nought", x1: at(0), x2: at(0), y1: 0, y2: 14 }),
    draw("rect", { class: value < 0 ? "minus" : "plus", x: from, y: 3, width: Math.max(to - from, 0.5), height: 8 }),
    width == null ? null : draw("line", { class: "whisker", x1: at(value - width), x2: at(value + width), y1: 7, y2: 7 }),
  );
}

export function share(part) {
  return draw(
    "svg",
    { class: "bar", viewBox: "0 0 100 14", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("rect", { class: "track", x: 0, y: 3, width: 100, height: 8 }),
    draw("rect", { class: "plus", x: 0, y: 3, width: 100 * part, height: 8 }),
  );
}
