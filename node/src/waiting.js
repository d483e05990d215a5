// C5–C8: waiting, with and without the database.
import { setTimeout as delay } from 'node:timers/promises';
import { wholeNumber } from './parameters.js';

const milliseconds = (req) => wholeNumber(req.query, 'ms', 0, 60_000);

/** C40: aborts when the client leaves before its answer is handed over. */
export function leaving(res) {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller;
}

export function hello(req, res) {
  res.type('text/plain').send('hello');
}

export async function sleep(req, res) {
  const ms = milliseconds(req);
  await delay(ms, undefined, leaving(res));
  res.json({ slept_ms: ms });
}

export async function sleepQuery(req, res) {
  const ms = milliseconds(req);
  const { signal } = leaving(res);
  await delay(ms, undefined, { signal });
  const [row] = await req.app.locals.database.query('SELECT NOW(6)', [], signal);
  const now = row['NOW(6)'];
  // The binary protocol leaves out a fraction that is nought.
  res.json({ slept_ms: ms, now: now.includes('.') ? now : `${now}.000000` });
}

export async function slowQuery(req, res) {
  const ms = milliseconds(req);
  await req.app.locals.database.query('SELECT SLEEP(?)', [ms / 1000], leaving(res).signal);
  res.json({ queried_ms: ms });
}
