// C12, C13: what holds the event loop.
import { availableParallelism } from 'node:os';
import { Piscina } from 'piscina';
import blockThread from './blocking.js';
import { oneOf, query, wholeNumber } from './parameters.js';

/** C12 */
export function compute(req, res) {
  const rounds = wholeNumber(query(req), 'rounds', 1, 10_000_000);
  let x = 2463534242 | 0;
  for (let i = 0; i < rounds; i++) {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
  }
  res.json({ rounds, result: x >>> 0 });
}

/** Node's own remedy, worker_threads, in Piscina's default number. Begun at the first use, then kept. */
export class Offload {
  description = `piscina, ${Math.ceil(availableParallelism() * 1.5)} threads per worker`;
  #threads;

  block(ms) {
    this.#threads ??= new Piscina({ filename: new URL('blocking.js', import.meta.url).href, idleTimeout: Infinity });
    return this.#threads.run(ms);
  }
}

/** C13 */
export function block(offload) {
  return async (req, res) => {
    const parameters = query(req);
    const ms = wholeNumber(parameters, 'ms', 0, 1000);
    const offloaded = oneOf(parameters, 'offload', 'false', 'true') === 'true';
    if (offloaded) await offload.block(ms);
    else blockThread(ms);
    res.json({ blocked_ms: ms, offloaded });
  };
}
