// The server: answers and events, with a token where it asks for one. EventSource can send none, so events come by fetch.

const KEY = "driftbandit-token";
const SILENCE = 15_000; // milliseconds without an event after which a connection is taken for dead

export class Refusal extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY),
  keep: (value) => sessionStorage.setItem(KEY, value),
  forget: () => sessionStorage.removeItem(KEY),
};

async function ask(path, signal) {
  const kept = token.get();
  const headers = kept ? { authorization: `Bearer ${kept}` } : {};
  const answer = await fetch(path, { headers, signal, cache: "no-store" });
  if (answer.ok) return answer;
  const problem = await answer.json().catch(() => ({}));
  throw new Refusal(answer.status, problem.detail ?? `the server answered ${answer.status}`);
}

const get = async (path, signal) => (await ask(path, signal)).json();

const at = (name) => `v1/experiments/${encodeURIComponent(name)}`;
export const experiments = async (signal) => (await get("v1/experiments", signal)).experiments;
export const history = (name, span, signal) => get(`${at(name)}/history?span=${span}`, signal);

/** Every event until the stream ends, which is an error unless the signal ended it. */
export async function listen(name, signal, told) {
  const dead = new AbortController();
  const answer = await ask(`live?experiment=${encodeURIComponent(name)}`, AbortSignal.any([signal, dead.signal]));
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let timer;
  try {
    for (;;) {
      timer = setTimeout(() => dead.abort(), SILENCE);
      const { done, value } = await reader.read();
      clearTimeout(timer);
      if (done) throw new Error("the stream ended");
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      const last = parts.filter((part) => part.startsWith("event: status\n")).at(-1); // older ones are of no interest
      if (last) told(JSON.parse(last.slice(last.indexOf("data: ") + 6)));
    }
  } finally {
    clearTimeout(timer);
  }
}
