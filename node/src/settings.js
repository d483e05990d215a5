// C50: settings from the environment alone, read once into one frozen value.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';

export const KEEP_ALIVE_MS = 75_000; // C62
export const UPSTREAM_IDLE_MS = 86_400_000; // C63
const MAX_BACKLOG = 4096; // C62

export class SettingsError extends Error {}

export function readSettings(env) {
  const workers = wholeNumber(env, 'WORKERS', availableParallelism(), 1, 1024);
  return Object.freeze({
    host: env.HOST || '127.0.0.1',
    port: wholeNumber(env, 'PORT', 8080, 1, 65535),
    databaseUrl: databaseUrl(env),
    dbPoolSize: wholeNumber(env, 'DB_POOL_SIZE', 150, workers, 10_000),
    dbAcquireTimeoutMs: wholeNumber(env, 'DB_ACQUIRE_TIMEOUT_MS', 60_000, 1, 3_600_000),
    upstreamUrl: upstreamUrl(env),
    upstreamTimeoutMs: wholeNumber(env, 'UPSTREAM_TIMEOUT_MS', 70_000, 1, 3_600_000),
    workers,
    serverThreads: wholeNumber(env, 'SERVER_THREADS', 200, 1, 100_000), // checked as everywhere, used by nothing here
    backlog: Math.min(MAX_BACKLOG, somaxconn()),
  });
}

/** C42: whether it can be bound shows only when it is. */
export async function requireAddress(host) {
  const probe = createServer().listen({ host, port: 0 });
  await once(probe, 'listening').catch((error) => refuse('HOST', host, `an address to bind (${error.code})`));
  probe.close();
}

/** C60: this worker's part of the pool; the remainder goes to the first ones. */
export function poolShare({ dbPoolSize, workers }, index) {
  return Math.floor(dbPoolSize / workers) + (index < dbPoolSize % workers ? 1 : 0);
}

function wholeNumber(env, name, byDefault, min, max) {
  const value = env[name] || String(byDefault);
  const number = /^(0|[1-9][0-9]*)$/.test(value) ? Number(value) : NaN;
  if (!(number >= min && number <= max)) refuse(name, value, `a whole number from ${min} to ${max}`);
  return number;
}

function databaseUrl(env) {
  const value = env.DATABASE_URL || '';
  try {
    const url = new URL(value);
    const [, database, ...more] = url.pathname.split('/').map(decodeURIComponent);
    const whole = url.protocol === 'mysql:' && url.hostname && url.username && database && url.port !== '0';
    if (!whole || more.length > 0 || url.search || url.hash) throw new TypeError('not of the form');
    return Object.freeze({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: Number(url.port || 3306),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database,
    });
  } catch {
    return refuse('DATABASE_URL', withoutPassword(value), 'mysql://user:password@host:port/database');
  }
}

function upstreamUrl(env) {
  const value = env.UPSTREAM_URL || 'http://127.0.0.1:9000';
  const [, port] = /^http:\/\/(?:[\w.-]+|\[[0-9a-fA-F:.]+\]):([1-9][0-9]{0,4})$/.exec(value) ?? [];
  if (!(port <= 65535) || !URL.canParse(value))
    refuse('UPSTREAM_URL', value.replace(/:\/\/.*@/s, '://***@'), 'http://host:port');
  return value;
}

function somaxconn() {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    return MAX_BACKLOG; // not Linux: the kernel lowers what is too much
  }
}

function refuse(name, value, expected) {
  throw new SettingsError(`${name}="${value}" is not ${expected}`);
}

/** C42: what stands between the user's colon and the last @ is never printed, and nothing after ? either. */
function withoutPassword(value) {
  const scheme = /^\w+:\/\//.exec(value)?.[0] ?? '';
  const at = value.lastIndexOf('@');
  const colon = value.indexOf(':', scheme.length);
  const masked =
    colon >= 0 && (at < 0 || colon < at) ? `${value.slice(0, colon)}:***${at < 0 ? '' : value.slice(at)}` : value;
  return masked.replace(/\?.*$/s, '?***');
}
