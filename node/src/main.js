// Wires settings, pool, client, server and signals together; what they do is in the other files.
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { Database } from './database.js';
import { createUpstream } from './fanout.js';
import { Offload } from './compute.js';
import { createListener } from './routes.js';
import { KEEP_ALIVE_MS, SettingsError, poolShare, readSettings, requireAddress } from './settings.js';
import { Stats } from './stats.js';
import { Streams, wantsSocket } from './streaming.js';
import { runPrimary, runWorker } from './workers.js';

const STOP_LIMIT_MS = 8_000; // C41
const HEAD_LIMIT_MS = 10_000; // C27
const BODY_LIMIT_MS = 20_000;

async function settingsOrExit() {
  try {
    const settings = readSettings(process.env);
    if (cluster.isPrimary) await requireAddress(settings.host);
    return settings;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(error.message);
    process.exit(2); // C42
  }
}

function serve(settings, run) {
  // C60: a worker's id counts from 1, and no worker is ever replaced.
  const share = poolShare(settings, (cluster.worker?.id ?? 1) - 1);
  const database = new Database(settings, share);
  const upstream = createUpstream(settings);
  const stats = new Stats(database);
  const streams = new Streams(stats);
  const listener = createListener({ settings, database, upstream, stats, offload: new Offload(), streams });
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS, // C62
      keepAliveTimeoutBuffer: 0, // Node adds a second of its own: 75 s are 75 s
      headersTimeout: HEAD_LIMIT_MS, // C27; counts on a new connection too
      requestTimeout: BODY_LIMIT_MS, // of head and body together: no answer is cut off by it
      connectionsCheckingInterval: 1_000,
      noDelay: true,
      shouldUpgradeCallback: wantsSocket,
    },
    listener,
  );
  server.maxRequestsPerSocket = 0;
  server.on('upgrade', streams.upgrade);
  server.on('checkExpectation', listener); // an unknown Expect is ignored, not answered by Node's bare 417
  server.on('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });

  const stop = () => {
    setTimeout(() => process.exit(0), STOP_LIMIT_MS);
    server.close(async () => {
      await database.close();
      process.exit(0);
    });
    streams.end();
    // close() ends only the connections that are idle now; those that answer later are ended as they fall idle.
    setInterval(() => server.closeIdleConnections(), 50);
  };
  const start = () => {
    database.open();
    server.listen({ host: settings.host, port: settings.port, backlog: settings.backlog });
  };
  run({ start, stop, stats });
}

/** WORKERS=1: this process serves, and nobody stands above it. */
function runAlone({ start, stop }) {
  process.once('SIGTERM', stop).once('SIGINT', stop);
  start();
}

const settings = await settingsOrExit();
if (settings.workers === 1) serve(settings, runAlone);
else if (cluster.isPrimary) runPrimary(settings.workers, STOP_LIMIT_MS);
else serve(settings, runWorker);
