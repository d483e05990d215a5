// WORKERS > 1: a primary that accepts and hands connections out in turn (node:cluster), and the workers that serve.
// Nobody here watches a clock to find another dead, so a SIGSTOP of all for minutes harms nothing.
import cluster from 'node:cluster';
import { addCounters } from './stats.js';

const STATS_LIMIT_MS = 1_000;

export function runPrimary(count, stopLimitMs) {
  const workers = Array.from({ length: count }, () => cluster.fork());
  const tellAll = (message) => workers.forEach((worker) => worker.isConnected() && worker.send(message));
  const gatherings = new Map(); // id of a question → who asked, and the counters so far
  let ready = 0;
  let ended = 0;
  let stopping = false;

  cluster.on('message', (worker, message) => {
    if (message.type === 'ready') {
      // All begin together: a worker that listens first would take every early connection.
      if (++ready === count) tellAll({ type: 'start' });
    } else if (message.type === 'gather') {
      const id = `${worker.id}/${message.id}`;
      gatherings.set(id, { worker, question: message.id, counters: [] });
      tellAll({ type: 'count', id });
    } else if (message.type === 'counted') {
      const { worker: asker, question, counters } = gatherings.get(message.id);
      if (counters.push(message.counters) < count) return;
      gatherings.delete(message.id);
      if (asker.isConnected()) asker.send({ type: 'gathered', id: question, counters: addCounters(counters) });
    }
  });
  cluster.on('exit', (worker, code, signal) => {
    if (!stopping) {
      console.error(`worker ${worker.id} ended unexpectedly (${signal ?? code})`);
      process.exit(1); // the others end as their channel closes
    }
    if (++ended === count) process.exit(0);
  });

  const stop = () => {
    stopping = true;
    tellAll({ type: 'stop' });
    setTimeout(() => {
      workers.forEach((worker) => worker.process.kill('SIGKILL'));
      process.exit(0);
    }, stopLimitMs + 500);
  };
  process.once('SIGTERM', stop).once('SIGINT', stop);
}

/** A worker obeys its primary alone, for a signal to the group reaches both; where the primary dies, node:cluster ends it. */
export function runWorker({ start, stop, stats }) {
  process.on('SIGTERM', () => {}).on('SIGINT', () => {});
  const questions = new Map();
  let lastId = 0;

  process.on('message', (message) => {
    if (message.type === 'start') start();
    else if (message.type === 'stop') stop();
    else if (message.type === 'count') process.send({ type: 'counted', id: message.id, counters: stats.own() });
    else if (message.type === 'gathered') questions.get(message.id)?.(message.counters);
  });

  // C4: counters of all workers, by way of the primary.
  stats.all = () => {
    const id = ++lastId;
    let limit;
    return new Promise((resolve, reject) => {
      questions.set(id, resolve);
      limit = setTimeout(() => reject(new Error('a worker did not give its counters in time')), STATS_LIMIT_MS);
      process.send({ type: 'gather', id });
    }).finally(() => {
      clearTimeout(limit);
      questions.delete(id);
    });
  };
  process.send({ type: 'ready' });
}
