// Rewards put together: buckets into bins wide enough to say something, bins into means with intervals.

const SURE = 1.96; // standard errors: 95 %
const ENOUGH = 60; // rewards of the busiest action in a bin
const BINS = { "30m": [1, 2, 4, 6, 12, 24, 60], "7d": [1, 2, 4, 12, 24, 48] }; // buckets per bin

/** What the server summed, from what it tells: count, total, squares. */
export function sums(n, mean, low, high) {
  if (!n || mean == null) return [0, 0, 0];
  const variance = n < 2 || low == null ? 0 : ((high - low) / (2 * SURE)) ** 2 * (n - 1);
  return [n, n * mean, n * (variance + mean * mean)];
}

export const add = (one, other) => one.map((value, k) => value + other[k]);

/** Mean and 95 % interval. Where all rewards were the same nobody can say how sure that is, so there is no interval. */
export function summary([n, total, squares]) {
  if (!n) return { n, mean: null, low: null, high: null };
  const mean = total / n;
  const spread = Math.max(squares / n - mean * mean, 0);
  if (n < 2 || spread < 1e-9 * (1 + mean * mean)) return { n, mean, low: null, high: null };
  const half = SURE * Math.sqrt(spread / (n - 1));
  return { n, mean, low: mean - half, high: mean + half };
}

/** The sums of a series from one bucket up to another. */
export function between(series, from, to) {
  let pooled = [0, 0, 0];
  for (let k = from; k < to; k++) {
    pooled = add(pooled, sums(series.rewards[k], series.mean[k], series.low[k], series.high[k]));
  }
  return pooled;
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
    rewards: edges.map((edge, k) => summary(between(from, edge, ends[k]))),
  });
  return {
    step,
    times: edges.map((edge) => Math.floor(history.times[edge] / step) * step + step / 2),
    seconds: edges.map((edge, k) => Math.max(Math.min((ends[k] - edge) * history.width, now - history.times[edge]), 1)),
    all: series(history),
    actions: history.actions.map((action) => ({ name: action.action, ...series(action) })),
  };
}

/**
 * What choosing gained over an even choice of the same actions, from the sums of each: Σ (nₐ/n − 1/k) meanₐ. All share one
 * variance, since an action that was hardly played cannot tell its own.
 */
export function gain(parts) {
  const known = parts.filter(([n]) => n > 0);
  const n = known.reduce((sum, part) => sum + part[0], 0);
  const within = known.reduce((sum, [m, t, squares]) => sum + Math.max(squares - (t * t) / m, 0), 0);
  if (known.length < 2 || n - known.length < 10 || within <= 0) return null;
  const variance = within / (n - known.length);
  const weights = known.map(([m]) => m / n - 1 / known.length);
  const difference = known.reduce((sum, [m, t], k) => sum + (weights[k] * t) / m, 0);
  const half = SURE * Math.sqrt(variance * known.reduce((sum, [m], k) => sum + weights[k] ** 2 / m, 0));
  const even = known.reduce((sum, [m, t]) => sum + t / m, 0) / known.length;
  return { even, difference, low: difference - half, high: difference + half };
}
