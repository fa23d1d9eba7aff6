// Outcomes put together: buckets into bins wide enough to say something, bins into means with intervals.

const SURE = 1.96; // standard errors: 95 %
const ENOUGH = 60; // outcomes of the busiest action in a bin
const BINS = { "30m": [1, 2, 4, 6, 12, 24, 60], "7d": [1, 2, 4, 12, 24, 48] }; // buckets per bin

const NONE = [0, 0, 0];

/** Count, mean, and the sum of squared distances from it, of two lots together. */
export function add([n, mean, apart], [m, other, more]) {
  const all = n + m;
  if (!all) return NONE;
  const step = other - mean;
  return [all, mean + (step * m) / all, apart + more + (step * step * n * m) / all];
}

/** The lot of each bucket from one up to another, together. */
export function between({ rewards, mean, deviations }, from, to) {
  let lot = NONE;
  for (let k = from; k < to; k++) if (rewards[k]) lot = add(lot, [rewards[k], mean[k], deviations[k]]);
  return lot;
}

/** Of all outcomes in a history: their variance, the least and the greatest. */
export function spreadOf(history) {
  const [n, , apart] = between(history, 0, history.times.length);
  return { variance: n ? apart / n : 0, bounds: history.bounds };
}

/**
 * Mean and 95 % interval. As on the server: its own variance counts together with one outcome of the variance of all, since
 * where few came, and by chance the same, its own says nothing; and no end lies beyond what was ever seen.
 */
export function summary([n, mean, apart], { variance, bounds: [least, most] }) {
  if (!n) return { n, mean: null, low: null, high: null };
  const half = (SURE * Math.sqrt(apart + variance)) / n;
  return { n, mean, low: Math.max(mean - half, least ?? -Infinity), high: Math.min(mean + half, most ?? Infinity) };
}

const total = (values, from, to) => {
  let sum = 0;
  for (let k = from; k < to; k++) sum += values[k];
  return sum;
};

/** How many buckets make a bin: as few as let most bins of the busiest action say something. */
export function widthOf(history) {
  const busiest = Math.max(0, ...history.actions.map((action) => total(action.rewards, 0, action.rewards.length)));
  const used = history.rewards.filter((n) => n > 0).length || 1;
  const choices = BINS[history.span] ?? [1];
  return choices.find((width) => (busiest / used) * width >= ENOUGH) ?? choices.at(-1);
}

/** The history up to now in wider bins that begin on whole multiples, so that they stay put while time goes on. */
export function binned(history, width, now) {
  const step = width * history.width;
  const first = history.decisions.findIndex((n, k) => n > 0 || history.rewards[k] > 0);
  const edges = [];
  for (let k = Math.max(first, 0); k < history.times.length; k++) {
    if (!edges.length || Math.floor(history.times[k] / step) > Math.floor(history.times[k - 1] / step)) edges.push(k);
  }
  const ends = [...edges.slice(1), history.times.length];
  const series = (from) => ({
    decisions: edges.map((edge, k) => total(from.decisions, edge, ends[k])),
    lots: edges.map((edge, k) => between(from, edge, ends[k])),
  });
  return {
    step,
    times: edges.map((edge) => Math.floor(history.times[edge] / step) * step + step / 2),
    seconds: edges.map((edge, k) => Math.max(Math.min((ends[k] - edge) * history.width, now - history.times[edge]), 1)),
    all: series(history),
    actions: history.actions.map((action) => ({ name: action.action, ...series(action) })),
  };
}

/** Lots of at least so many outcomes, each told at the bin that completes it; other bins get nothing. */
export function gathered(lots, least) {
  let held = NONE;
  return lots.map((lot) => {
    held = add(held, lot);
    if (held[0] < least) return NONE;
    const whole = held;
    held = NONE;
    return whole;
  });
}

/**
 * What choosing gained over an even choice of the same actions, from the lot of each: Σ (nₐ/n − 1/k) meanₐ. All share one
 * variance, since an action that was hardly played cannot tell its own.
 */
export function gain(lots) {
  const known = lots.filter(([n]) => n > 0);
  const n = known.reduce((sum, lot) => sum + lot[0], 0);
  const apart = known.reduce((sum, lot) => sum + lot[2], 0);
  if (known.length < 2 || n - known.length < 10 || apart <= 0) return null;
  const variance = apart / (n - known.length);
  const weights = known.map(([m]) => m / n - 1 / known.length);
  const difference = known.reduce((sum, [, mean], k) => sum + weights[k] * mean, 0);
  const half = SURE * Math.sqrt(variance * known.reduce((sum, [m], k) => sum + weights[k] ** 2 / m, 0));
  const even = known.reduce((sum, [, mean]) => sum + mean, 0) / known.length;
  return { even, difference, low: difference - half, high: difference + half };
}
