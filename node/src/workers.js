// WORKERS > 1: a primary that accepts and hands connections out in turn (node:cluster), and the workers that serve.
// Nobody here watches a clock to find another dead, so a SIGSTOP of all for minutes harms nothing.
import cluster from 'node:cluster';
import { EventEmitter, on, once } from 'node:events';

export const WRONG_SETTING = 2; // C42: the exit code

/** Ends when its last worker has ended; where it dies, node:cluster ends its workers. */
export async function runPrimary(count, stopLimitMs) {
  const workers = Array.from({ length: count }, () => cluster.fork());
  const killAll = (signal) => workers.forEach((worker) => worker.process.kill(signal));
  let stopping = false;
  const stop = () => {
    stopping = true;
    killAll('SIGTERM');
    setTimeout(killAll, stopLimitMs + 500, 'SIGKILL').unref();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);
  cluster.on('exit', (worker, code, signal) => {
    if (stopping) return;
    const said = code === WRONG_SETTING; // by the worker: which one
    if (!said) console.error(`worker ${worker.id} ended unexpectedly (${signal ?? code})`);
    killAll('SIGKILL'); // a worker that asks this process for a port after its end prints a stack trace
    process.exit(said ? code : 1);
  });

  // All begin together: a worker that listens first would take every early connection.
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  const send = (worker, message) => worker?.isConnected() && worker.send(message);
  workers.forEach((worker) => send(worker, { type: 'start' }));
  cluster.on('message', (from, { type, to, ...rest }) => {
    if (type === 'ask') workers.forEach((worker) => send(worker, { type, from: from.id, ...rest }));
    else send(cluster.workers[to], { type, ...rest });
  });
}

/** Listens when all are ready. Asks all workers, itself too, for their counters (C4), by way of the primary. */
export function runWorker({ start, stats }, count) {
  const answers = new EventEmitter(); // to each question, by its number
  let questions = 0;
  process.on('message', ({ type, question, from, counters }) => {
    if (type === 'start') start();
    else if (type === 'ask') process.send({ type: 'tell', to: from, question, counters: stats.own() });
    else answers.emit(question, counters);
  });
  stats.all = async () => {
    const question = ++questions;
    const told = on(answers, question, { signal: AbortSignal.timeout(1_000) });
    process.send({ type: 'ask', question });
    const all = [];
    for await (const [counters] of told) if (all.push(counters) === count) break;
    const total = (name) => all.reduce((sum, counters) => sum + counters[name], 0);
    return Object.fromEntries(Object.keys(all[0]).map((name) => [name, total(name)]));
  };
  process.send({ type: 'ready' });
}
