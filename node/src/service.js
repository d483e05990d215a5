// C1–C4: the service itself.
import { getHeapStatistics } from 'node:v8';
import express from 'express/package.json' with { type: 'json' };
import mysql2 from 'mysql2/package.json' with { type: 'json' };
import { KEEP_ALIVE_MS, UPSTREAM_IDLE_MS } from './settings.js';

export function healthz(req, res) {
  res.json({ status: 'ok' });
}

export async function readyz(req, res) {
  await req.app.locals.database.query('SELECT 1', [], AbortSignal.timeout(1_500)); // C2 allows 2 s
  res.json({ status: 'ok' });
}

export function runtime(req, res) {
  const { settings, threads } = req.app.locals;
  res.json({
    runtime: 'Node.js',
    runtime_version: process.versions.node,
    framework: 'express',
    framework_version: express.version,
    server: 'node:http',
    driver: 'mysql2',
    driver_version: mysql2.version,
    concurrency_model: 'event loop',
    handled_by: null,
    workers: settings.workers,
    pool_size: settings.dbPoolSize,
    cancels_on_disconnect: true,
    settings: {
      backlog: null,
      keep_alive_s: KEEP_ALIVE_MS / 1000,
      max_connections: null,
      server_threads: null,
      db_acquire_timeout_ms: settings.dbAcquireTimeoutMs,
      db_statements: 'prepared',
      upstream_timeout_ms: settings.upstreamTimeoutMs,
      upstream_max_connections: null,
      upstream_idle_s: UPSTREAM_IDLE_MS / 1000,
      offload: `piscina, ${Math.ceil(threads.maxThreads)} threads per worker`,
      heap_max_mib: Math.round(getHeapStatistics().heap_size_limit / 2 ** 20),
      gc: null,
    },
  });
}

export async function stats(req, res) {
  res.json(await req.app.locals.stats.all());
}
