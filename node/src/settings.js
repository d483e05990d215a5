// C50: settings from the environment alone, read once into one frozen value.
import { availableParallelism } from 'node:os';
import { inBounds } from './parameters.js';

export const KEEP_ALIVE_MS = 75_000; // C62
export const UPSTREAM_IDLE_MS = 86_400_000; // C63

export class SettingsError extends Error {}

export function readSettings(env) {
  const workers = wholeNumber(env, 'WORKERS', availableParallelism(), 1, 1024);
  wholeNumber(env, 'SERVER_THREADS', 200, 1, 100_000); // checked as everywhere, used by nothing here
  return Object.freeze({
    host: env.HOST || '127.0.0.1',
    port: wholeNumber(env, 'PORT', 8080, 1, 65_535),
    databaseUrl: databaseUrl(env.DATABASE_URL || ''),
    dbPoolSize: wholeNumber(env, 'DB_POOL_SIZE', 150, workers, 10_000),
    dbAcquireTimeoutMs: wholeNumber(env, 'DB_ACQUIRE_TIMEOUT_MS', 60_000, 1, 3_600_000),
    upstreamUrl: upstreamUrl(env.UPSTREAM_URL || 'http://127.0.0.1:9000'),
    upstreamTimeoutMs: wholeNumber(env, 'UPSTREAM_TIMEOUT_MS', 70_000, 1, 3_600_000),
    workers,
    tuned: env.TUNED === 'true', // node-tuned
  });
}

function wholeNumber(env, name, byDefault, min, max) {
  const value = env[name] || String(byDefault);
  return inBounds(value, min, max) ?? refuse(name, value, `a whole number from ${min} to ${max}`);
}

/** Nothing of a wrong one is shown, for it may hold a password anywhere. */
function databaseUrl(value) {
  try {
    const { protocol, username, hostname, port, pathname, search, hash } = new URL(value);
    decodeURIComponent(value); // as mysql2 will
    const database = /^\/[^/?#]+$/.test(pathname + search + hash);
    if (protocol === 'mysql:' && username && hostname && port !== '0' && database) return value;
  } catch {
    // no URL: refused as any other that is wrong
  }
  return refuse('DATABASE_URL', '***', 'mysql://user:password@host:port/database');
}

function upstreamUrl(value) {
  const whole = /^http:\/\/[^\s/?#@]+:[1-9][0-9]*$/.test(value) && URL.canParse(value);
  return whole ? value : refuse('UPSTREAM_URL', value.replace(/\/\/.*@/s, '//***@'), 'http://host:port');
}

function refuse(name, value, expected) {
  throw new SettingsError(`${name}="${value}" is not ${expected}`);
}
