// The estimate of each feature's weight: a table to sort, the weightiest first.

import { uncertain } from "./bars.js";
import { byId, make, say } from "./dom.js";
import { fixed } from "./words.js";

const FIRST = 12; // shown until all are asked for
const COLUMNS = [
  { title: "Feature", key: "name", value: (feature) => feature.name },
  { title: "Estimate", key: "theta", value: (feature) => Math.abs(feature.theta), hint: "by size" },
  { title: "Uncertainty", key: "width", value: (feature) => feature.width ?? Infinity },
];

let sorting = { key: "theta", down: true };
let all = false;
let last = null;
const body = make("tbody");
const heads = COLUMNS.map(headOf);
const more = make("button", { type: "button", class: "more", click: () => ((all = !all), render(last)) });
let place = null;

function headOf({ title, key, hint }) {
  const click = () => ((sorting = { key, down: sorting.key === key ? !sorting.down : key !== "name" }), render(last));
  const button = make("button", { type: "button", class: "sort", click }, title, make("span", { class: "arrow", "aria-hidden": "true" }));
  return make("th", { scope: "col", class: key === "name" ? null : "number", title: hint }, button);
}

function build() {
  const [name, theta, width] = heads;
  const head = make("tr", {}, name, make("td", { class: "bars" }), theta, width);
  const caption = make("caption", { class: "unseen" }, "The estimated weight of each feature, and its uncertainty");
  place = byId("features");
  place.append(make("table", { class: "features" }, caption, make("thead", {}, head), body), more);
}

export function render(view) {
  last = view;
  if (!place) build();
  const each = view.live.features;
  const reach = Math.max(1e-9, ...each.map(({ theta, width }) => Math.abs(theta) + (width ?? 0)));
  const sorted = each.toSorted(inOrder);
  body.replaceChildren(...(all ? sorted : sorted.slice(0, FIRST)).map((feature) => row(feature, reach)));
  heads.forEach((head, k) => mark(head, COLUMNS[k].key));
  more.hidden = each.length <= FIRST;
  say(more, all ? `Show the first ${FIRST}` : `Show all ${each.length} features`);
}

function inOrder(one, other) {
  const { value } = COLUMNS.find((column) => column.key === sorting.key);
  const [a, b] = [value(one), value(other)];
  return (a < b ? -1 : a > b ? 1 : 0) * (sorting.down ? -1 : 1);
}

function mark(head, key) {
  const mine = sorting.key === key;
  head.setAttribute("aria-sort", mine ? (sorting.down ? "descending" : "ascending") : "none");
  say(head.querySelector(".arrow"), mine ? (sorting.down ? "▼" : "▲") : "");
}

function row({ name, theta, width }, reach) {
  return make(
    "tr",
    {},
    make("th", { scope: "row", title: name }, name),
    make("td", { class: "bars" }, uncertain(theta, width, reach)),
    make("td", { class: "number" }, fixed(theta, 3)),
    make("td", { class: "number" }, width === null ? "–" : `±${"\u202f"}${fixed(width, 3)}`),
  );
}
