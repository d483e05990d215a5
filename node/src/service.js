// C1–C4: the service itself.
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { databaseAway } from './problems.js';
import { KEEP_ALIVE_MS, UPSTREAM_IDLE_MS } from './settings.js';

const READY_LIMIT_MS = 1_500; // C2 allows 2 s, network and a busy loop included
const require = createRequire(import.meta.url);
const versionOf = (name) => require(`${name}/package.json`).version;

/** C1 */
export function healthz(req, res) {
  res.json({ status: 'ok' });
}

/** C2 */
export function readyz(database) {
  return async (req, res) => {
    const over = new AbortController();
    const answer = database.query('SELECT 1', [], over.signal);
    const tooLate = delay(READY_LIMIT_MS, undefined, over).then(() => {
      throw databaseAway();
    });
    try {
      await Promise.race([answer, tooLate]);
    } finally {
      over.abort();
      tooLate.catch(() => {});
      answer.catch(() => {});
    }
    res.json({ status: 'ok' });
  };
}

/** C3 */
export function runtime(settings, offload) {
  const facts = {
    runtime: 'Node.js',
    runtime_version: process.versions.node,
    framework: 'express',
    framework_version: versionOf('express'),
    server: 'node:http',
    driver: 'mysql2',
    driver_version: versionOf('mysql2'),
    concurrency_model: 'event loop',
    handled_by: null,
    workers: settings.workers,
    pool_size: settings.dbPoolSize,
    cancels_on_disconnect: true,
    settings: {
      backlog: settings.backlog,
      keep_alive_s: KEEP_ALIVE_MS / 1000,
      max_connections: null,
      server_threads: null,
      db_acquire_timeout_ms: settings.dbAcquireTimeoutMs,
      db_statements: 'prepared',
      upstream_timeout_ms: settings.upstreamTimeoutMs,
      upstream_max_connections: null,
      upstream_idle_s: UPSTREAM_IDLE_MS / 1000,
      offload: offload.description,
      heap_max_mib: Math.round(getHeapStatistics().heap_size_limit / 2 ** 20),
      gc: null,
    },
  };
  return (req, res) => res.json(facts);
}

/** C4 */
export function stats(counters) {
  return async (req, res) => {
    res.json(await counters.all());
  };
}
