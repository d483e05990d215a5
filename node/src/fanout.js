// C11: calls to the upstream.
import { Pool } from 'undici';
import { oneOf, query, wholeNumber } from './parameters.js';
import { upstreamAway } from './problems.js';
import { UPSTREAM_IDLE_MS } from './settings.js';
import { leaving } from './waiting.js';

/** C63: as many connections as there are calls, kept for the length of a run; undici retries nothing by itself. */
export function createUpstream({ upstreamUrl, upstreamTimeoutMs }) {
  return new Pool(upstreamUrl, {
    connections: null,
    pipelining: 1,
    keepAliveTimeout: UPSTREAM_IDLE_MS,
    keepAliveMaxTimeout: UPSTREAM_IDLE_MS,
    connectTimeout: upstreamTimeoutMs,
    headersTimeout: 0, // undici's clock ticks in half seconds: the handler below has its own
    bodyTimeout: 0,
  });
}

/** C11 */
export function fanout({ upstreamTimeoutMs }, upstream) {
  return async (req, res) => {
    const parameters = query(req);
    const calls = wholeNumber(parameters, 'calls', 1, 1000);
    const ms = wholeNumber(parameters, 'ms', 0, 60_000);
    const mode = oneOf(parameters, 'mode', 'concurrent', 'sequential');

    const rest = leaving(res); // ends what is still under way: the client left, a call failed, or one is too late
    const call = () => callUpstream(upstream, ms, rest.signal);
    const limit = setTimeout(() => rest.abort(), upstreamTimeoutMs);
    try {
      if (mode === 'concurrent') {
        await Promise.all(Array.from({ length: calls }, call)); // all begin now, so one clock is right for each
      } else {
        for (let i = 0; i < calls; i++) {
          limit.refresh();
          await call();
        }
      }
    } catch (error) {
      rest.abort();
      throw upstreamAway(error);
    } finally {
      clearTimeout(limit);
    }
    res.json({ calls, mode, completed: calls });
  };
}

async function callUpstream(upstream, ms, signal) {
  const { statusCode, body } = await upstream.request({ method: 'GET', path: `/delay?ms=${ms}`, signal });
  if (statusCode !== 200) {
    body.on('error', () => {}); // ends with the rest
    throw new Error(`the upstream answered ${statusCode}`);
  }
  await body.dump();
}
