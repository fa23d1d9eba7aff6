// The question, answered in plain sentences: only what the numbers say.

import { between, gain, spreadOf, summary } from "./pool.js";
import { count, counted, inWords, lasting, list, number, percent } from "./words.js";

export const SHORTER = "For the time being a shorter memory is in use, which has predicted better lately; the longer one is kept.";
export const LATELY = { "30m": 600, "7d": 86400 }; // seconds: what "lately" means in the span that is shown

/** The kind of answer, the answer, and what else there is to say. */
export function verdict(live, history) {
  const { counts } = live.experiment;
  if (!counts.decisions) return { kind: "empty", headline: "No decisions yet.", sentences: [] };
  const lately = windowOf(live, history);
  const { kind, headline, sure } = answer(live, history, lately);
  const rest = [earned(lately), favourite(history, lately), remembers(live, history), trouble(live, lately)];
  return { kind, headline, sentences: [sure, ...rest].filter(Boolean) };
}

export function latelyName(live, { span }) {
  const age = live.now - live.experiment.created;
  return age < LATELY[span] ? `in the first ${lasting(Math.ceil(age))}` : `in the last ${lasting(LATELY[span])}`;
}

function windowOf(live, history) {
  const length = LATELY[history.span];
  const end = history.times.length;
  const from = history.times.findIndex((time) => time >= live.now - length);
  const before = history.times.findIndex((time) => time >= live.now - 2 * length);
  const name = latelyName(live, history);
  const spread = spreadOf(history);
  const told = (series, first, last) => summary(between(series, first, last), spread);
  return { from, before, end, name, told, rewards: told(history, from, end), earlier: told(history, before, from) };
}

function answer(live, history, lately) {
  const { counts } = live.experiment;
  const when = lately.name;
  if (!counts.rewards && !lately.rewards.n) {
    return { kind: "waiting", headline: "Not learning yet: no reward has come." };
  }
  if (!lately.rewards.n) return { kind: "waiting", headline: `Nothing was learnt ${when}.` };
  if (2 * counts.baselines > counts.decisions) {
    const share = percent(counts.agreed / counts.baselines);
    return { kind: "apprentice", headline: `Watching: it would have made ${share} of the baseline’s decisions.` };
  }
  const parts = history.actions.map((action) => between(action, lately.from, lately.end));
  return against(gain(parts), when);
}

function against(gained, when) {
  if (gained === null) return { kind: "unclear", headline: "Too early to tell." };
  const { difference, even, low, high } = gained;
  if (low <= 0 && high >= 0) {
    return { kind: "unclear", headline: `No clear gain: reward ${when} cannot be told from that of an even choice.` };
  }
  const size = even > 0 ? percent(Math.abs(difference) / even) : number(Math.abs(difference));
  const ends = even > 0 ? [low, high].map((end) => percent(end / even)) : [low, high].map(number);
  const sure = `With 95\u202f% confidence the difference lies between ${ends.join(" and ")}.`;
  return difference > 0
    ? { kind: "learning", headline: `Learning: reward ${when} is ${size} above an even choice.`, sure }
    : { kind: "worse", headline: `Not learning: reward ${when} is ${size} below an even choice.`, sure };
}

function earned({ rewards, earlier, name }) {
  if (!rewards.n) return null;
  const now = `${capital(name)} the mean reward was ${inWords(rewards)}, over ${counted(rewards.n, "outcome")}`;
  if (!earlier.n) return `${now}.`;
  const change = rewards.mean - earlier.mean;
  const half = Math.hypot(reach(rewards), reach(earlier));
  const size = earlier.mean > 0 ? ` by ${percent(Math.abs(change) / earlier.mean)}` : "";
  if (Math.abs(change) <= half) return `${now}; no clear change from the time as long before.`;
  return `${now}; that is ${change > 0 ? "up" : "down"}${size} on the time as long before.`;
}

function favourite(history, lately) {
  const played = history.actions.map((action) => {
    const decisions = action.decisions.slice(lately.from).reduce((sum, n) => sum + n, 0);
    return { name: action.action, decisions, rewards: lately.told(action, lately.from, lately.end) };
  });
  const total = played.reduce((sum, action) => sum + action.decisions, 0);
  if (!total || played.length < 2) return null;
  const most = played.reduce((one, other) => (other.decisions > one.decisions ? other : one));
  const known = played.filter((action) => action.rewards.n >= 10);
  const best = known.reduce((one, other) => (other.rewards.mean > one.rewards.mean ? other : one), known[0]);
  const lead = `${capital(quoted(most.name))} is chosen most (${percent(most.decisions / total)})`;
  if (!best) return `${lead}.`;
  if (best === most) return `${lead} and pays best, ${number(best.rewards.mean)} on average.`;
  const own = most.rewards.n ? ` at ${number(most.rewards.mean)} on average` : "";
  return `${lead}${own}; ${quoted(best.name)} pays best, ${number(best.rewards.mean)}.`;
}

function remembers(live, history) {
  const { memory, round } = live.experiment;
  if (memory === null) return null;
  const last = history.restarts.filter((restart) => restart.at !== null).at(-1);
  const held = `It learns from the last ${counted(Math.round(memory), "outcome")} (of ${counted(round, "round")})`;
  const shorter = shortened(live, history) ? ` ${SHORTER}` : "";
  if (!history.restarts.length) return shorter ? `${held}.${shorter}` : `${held}; so far it has not had to start over.`;
  const when = last && history.width < 60 ? ` ${lasting(live.now - last.at)} ago` : ""; // wide buckets do not tell
  return `${held}; it found older ones outdated and started over${when}, at round ${number(history.restarts.at(-1).round)}.${shorter}`;
}

/** Whether it remembered much more since its last restart: the longer memory is under suspicion, and was not given up. */
export function shortened(live, history) {
  const last = history.restarts.at(-1);
  const since = history.memory.filter((_, k) => !last || history.times[k] > last.at);
  return live.experiment.memory < 0.7 * Math.max(0, ...since);
}

function trouble(live, lately) {
  const { waiting, settings } = live.experiment;
  const most = settings.most_waiting ?? 100_000;
  const troubles = [];
  if (waiting > 0.8 * most) troubles.push(`${counted(waiting, "decision")} wait, close to the limit of ${count(most)}`);
  if (live.rates.decisions > 0 && lately.rewards.n === 0) troubles.push("decisions are made but no reward was learnt");
  return troubles.length ? `Look into it: ${list(troubles)}.` : null;
}

const reach = ({ mean, low, high }) => Math.max(mean - low, high - mean);
const quoted = (name) => `“${name}”`;
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
