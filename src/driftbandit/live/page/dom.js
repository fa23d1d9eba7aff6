// Elements. Text is always text: nothing that comes from a server is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An element: functions listen, true and false switch, null is left out, the rest are attributes. */
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** Only where it changed, so that what is selected or read aloud stays undisturbed. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A table of texts; columns are [title, whether numbers]. */
export function table(caption, columns, rows) {
  const head = columns.map(([title, number]) =>
    make(title ? "th" : "td", { scope: title ? "col" : null, class: number ? "number" : null }, title));
  const line = (cells) =>
    cells.map((cell, k) => make(k ? "td" : "th", { scope: k ? null : "row", class: columns[k][1] ? "number" : null }, cell));
  return make(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    make(
      "table",
      {},
      make("caption", { class: "unseen" }, caption),
      make("thead", {}, make("tr", {}, ...head)),
      make("tbody", {}, ...rows.map((cells) => make("tr", {}, ...line(cells)))),
    ),
  );
}

/** Something that is put into the page when it is opened, and made anew when its data is. */
export function folded(summary, content) {
  const inner = make("div");
  const refresh = () => details.open && inner.replaceChildren(content());
  const details = make("details", { toggle: refresh }, make("summary", {}, summary), inner);
  details.refresh = refresh;
  return details;
}
