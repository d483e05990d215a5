// C4: counters of this worker.
const SERVICE_PATHS = new Set(['/healthz', '/readyz', '/runtime', '/stats']);

export class Stats {
  #database;
  #requests = 0;
  #busyMs = 0;
  #inFlight = 0;

  constructor(database) {
    this.#database = database;
  }

  /** Hears of each request and upgrade. 'close' comes once: after the answer is handed over, or when the client left. */
  count = ({ url }, answer) => {
    const queryStart = url.indexOf('?');
    if (SERVICE_PATHS.has(queryStart < 0 ? url : url.slice(0, queryStart))) return;
    const begun = performance.now();
    this.#inFlight += 1;
    answer.on('close', () => {
      this.#inFlight -= 1;
      this.#requests += 1;
      this.#busyMs += performance.now() - begun;
    });
  };

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
