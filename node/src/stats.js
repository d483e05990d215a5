// C4: counters of this worker, and their sum.

const SERVICE_PATHS = new Set(['/healthz', '/readyz', '/runtime', '/stats']);

export class Stats {
  #database;
  #requests = 0;
  #busyMs = 0;
  #inFlight = 0;

  constructor(database) {
    this.#database = database;
  }

  /** 'close' comes exactly once: after the answer is handed over, or when the client left. */
  count(req, res) {
    const queryStart = req.url.indexOf('?');
    if (SERVICE_PATHS.has(queryStart < 0 ? req.url : req.url.slice(0, queryStart))) return;
    this.countUntilClosed(res);
  }

  countUntilClosed(stream) {
    const begun = performance.now();
    this.#inFlight += 1;
    stream.on('close', () => {
      this.#inFlight -= 1;
      this.#requests += 1;
      this.#busyMs += performance.now() - begun;
    });
  }

  own() {
    return {
      requests_total: this.#requests,
      busy_seconds_total: this.#busyMs / 1000,
      in_flight: this.#inFlight,
      pool_in_use: this.#database.inUse,
      pool_waiting: this.#database.waiting,
    };
  }

  /** Over all workers: one alone is all; where there are several, workers.js sets this to ask them. */
  all = async () => this.own();
}

export function addCounters([first, ...others]) {
  const sum = { ...first };
  for (const counters of others) for (const name of Object.keys(sum)) sum[name] += counters[name];
  return sum;
}
