// Numbers and times as people read them.

const three = new Intl.NumberFormat("en", { maximumSignificantDigits: 3 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const short = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const MINUS = "\u2212";
const NARROW = "\u202f"; // between a number and its unit, where no line may break

const signed = (text) => text.replace("-", MINUS);

/** As short as it can be: for axes. */
export function tick(value) {
  if (Math.abs(value) >= 1e6) return signed(compact.format(value));
  return signed(Math.abs(value) >= 100 ? whole.format(value) : three.format(value));
}

/** Three digits, noughts at the end too, so that numbers side by side look alike; a dash where there is no number. */
export function number(value) {
  if (value == null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return Number.isInteger(value) || size >= 100 || size < 1e-4 ? tick(value) : signed(value.toPrecision(3));
}

/** A mean and its interval. */
export function inWords({ mean, low, high }) {
  if (mean === null) return "–";
  return low === null ? number(mean) : `${number(mean)} (${number(low)} to ${number(high)})`;
}

/** So many digits behind the point that a column of them lines up. */
export const fixed = (value, digits) => (value == null ? "–" : signed(value.toFixed(digits)));

export const count = (value) => (value >= 1e7 ? compact.format(value) : whole.format(value));

export function percent(share) {
  const shown = Math.abs(share) < 0.0995 && share !== 0 ? (100 * share).toPrecision(2) : whole.format(100 * share);
  return signed(`${Number(shown)}${NARROW}%`);
}

export const counted = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

export const list = (words) => new Intl.ListFormat("en").format(words);

export const atClock = (seconds) => clock.format(1000 * seconds);

export const atTime = (seconds, bin) => (bin < 60 ? clock : bin < 1800 ? short : day).format(1000 * seconds);

/** A length of time, in its largest unit, on one line. */
export const lasting = (seconds) => inUnits(seconds).replace(" ", "\u00a0");

function inUnits(seconds) {
  for (const [unit, length] of [["day", 86400], ["hour", 3600], ["minute", 60]]) {
    if (seconds >= 1.5 * length || (seconds >= length && length > 60)) return counted(Math.round(seconds / length), unit);
  }
  if (seconds >= 10) return `${Math.round(seconds)} s`;
  return seconds >= 0.995 ? `${three.format(seconds)} s` : `${three.format(1000 * seconds)} ms`;
}

export const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
