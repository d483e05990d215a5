// C11: calls to the upstream.
import createError from 'http-errors';
import { Pool } from 'undici';
import { oneOf, wholeNumber } from './parameters.js';
import { UPSTREAM_IDLE_MS } from './settings.js';
import { leaving } from './waiting.js';

/** C63: undici opens as many connections as there are calls, and retries nothing. */
export function createUpstream({ upstreamUrl, upstreamTimeoutMs }) {
  return new Pool(upstreamUrl, {
    keepAliveTimeout: UPSTREAM_IDLE_MS,
    keepAliveMaxTimeout: UPSTREAM_IDLE_MS,
    connectTimeout: upstreamTimeoutMs,
    headersTimeout: 0, // undici's clock ticks in half seconds: the handler below has its own
    bodyTimeout: 0,
  });
}

export async function fanout(req, res) {
  const { query } = req;
  const calls = wholeNumber(query, 'calls', 1, 1000);
  const ms = wholeNumber(query, 'ms', 0, 60_000);
  const mode = oneOf(query, 'mode', 'concurrent', 'sequential');
  const { settings, upstream } = req.app.locals;
  const rest = leaving(res); // ends what is still under way: the client left, a call failed, or one is too late
  const limit = setTimeout(() => rest.abort(), settings.upstreamTimeoutMs);
  const call = () => callUpstream(upstream, ms, rest.signal);
  try {
    if (mode === 'concurrent') {
      await Promise.all(Array.from({ length: calls }, call)); // all begin now, so one clock is right for each
    } else {
      for (let i = 0; i < calls; i++) {
        limit.refresh();
        await call();
      }
    }
  } catch {
    rest.abort();
    throw createError(502, 'the upstream did not answer'); // C37
  } finally {
    clearTimeout(limit);
  }
  res.json({ calls, mode, completed: calls });
}

async function callUpstream(upstream, ms, signal) {
  const { statusCode, body } = await upstream.request({ method: 'GET', path: `/delay?ms=${ms}`, signal });
  await body.dump();
  if (statusCode !== 200 || body.errored) throw new Error(`the upstream answered ${statusCode}`);
}
