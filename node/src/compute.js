// C12, C13: what holds the event loop.
import { Piscina } from 'piscina';
import blockThread from './blocking.js';
import { oneOf, wholeNumber } from './parameters.js';

/** Node's own remedy, worker_threads, in Piscina's default number. Each begins when it is needed first, and stays. */
export function createThreads() {
  return new Piscina({ filename: new URL('blocking.js', import.meta.url).href, minThreads: 0, idleTimeout: Infinity });
}

export function compute(req, res) {
  const rounds = wholeNumber(req.query, 'rounds', 1, 10_000_000);
  let x = 2463534242 | 0;
  for (let i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  res.json({ rounds, result: x >>> 0 });
}

export async function block(req, res) {
  const { query } = req;
  const ms = wholeNumber(query, 'ms', 0, 1000);
  const offloaded = oneOf(query, 'offload', 'false', 'true') === 'true';
  if (offloaded) await req.app.locals.threads.run(ms);
  else blockThread(ms);
  res.json({ blocked_ms: ms, offloaded });
}
