// Wires settings, pool, client, server and signals together; what they do is in the other files.
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { createThreads } from './compute.js';
import { Database } from './database.js';
import { createUpstream } from './fanout.js';
import { createApp } from './routes.js';
import { KEEP_ALIVE_MS, SettingsError, readSettings } from './settings.js';
import { Stats } from './stats.js';
import { Streams, wantsSocket } from './streaming.js';
import { tune } from './tuned.js';
import { WRONG_SETTING, runPrimary, runWorker } from './workers.js';

const STOP_LIMIT_MS = 8_000; // C41

/** What one event loop serves, from its start to the first signal. */
function createService(settings) {
  const { host, port, dbPoolSize, workers } = settings;
  const index = (cluster.worker?.id ?? 1) - 1; // no worker is ever replaced
  const database = new Database(settings, Math.ceil((dbPoolSize - index) / workers)); // C60: the remainder to the first
  const stats = new Stats(database);
  const streams = new Streams();
  const upstream = createUpstream(settings);
  const app = createApp({ settings, database, stats, streams, upstream, threads: createThreads() });
  const listener = (req, res) => {
    stats.count(req, res); // here it costs half of what a middleware does
    app(req, res);
  };
  const server = createServer({
    ...(settings.tuned && tune(app)),
    keepAliveTimeout: KEEP_ALIVE_MS, // C62
    keepAliveTimeoutBuffer: 0, // Node adds a second of its own: 75 s are 75 s
    headersTimeout: 10_000, // C27; counts on a new connection too
    requestTimeout: 20_000, // of head and body together: no answer is cut off by it
    connectionsCheckingInterval: 1_000,
    shouldUpgradeCallback: wantsSocket,
  });
  // Who reads a body says "100 Continue"; any other Expect is ignored, not answered by Node's bare 417.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, listener);
  server.on('upgrade', stats.count).on('upgrade', streams.accept);
  server.on('error', ({ code }) => {
    if (index > 0) return; // the first worker says it for all
    console.error(`HOST="${host}" and PORT="${port}" cannot be bound (${code})`);
    process.exit(WRONG_SETTING);
  });
  server.once('close', async () => {
    await Promise.race([database.close(), delay(500)]); // mysql2 never calls back while it opens a connection
    process.exit(0);
  });

  // A second signal changes nothing: one to the group reaches a worker twice, by itself and by its primary.
  const stop = () => {
    setTimeout(() => process.exit(0), STOP_LIMIT_MS);
    server.keepAliveTimeout = 1; // close() ends the connections that are idle now, this those that answer later
    server.close();
    streams.end();
  };
  process.on('SIGTERM', stop).on('SIGINT', stop);

  const start = () => server.listen({ host, port, backlog: 65_535 }, () => database.open());
  return { start, stats };
}

try {
  const settings = readSettings(process.env);
  if (settings.workers === 1) createService(settings).start();
  else if (cluster.isPrimary) runPrimary(settings.workers, STOP_LIMIT_MS);
  else runWorker(createService(settings), settings.workers);
} catch (error) {
  if (!(error instanceof SettingsError)) throw error;
  console.error(error.message);
  process.exit(WRONG_SETTING);
}
