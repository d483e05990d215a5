// C5–C8: waiting, with and without the database.
import { setTimeout as delay } from 'node:timers/promises';
import { milliseconds } from './parameters.js';

/** C40: aborts when the client leaves before its answer is handed over. */
export function leaving(res) {
  const controller = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) controller.abort();
  });
  return controller;
}

/** C5 */
export function hello(req, res) {
  res.type('text/plain').send('hello');
}

/** C6 */
export async function sleep(req, res) {
  const ms = milliseconds(req);
  await delay(ms, undefined, leaving(res));
  res.json({ slept_ms: ms });
}

/** C7 */
export function sleepQuery(database) {
  return async (req, res) => {
    const ms = milliseconds(req);
    const { signal } = leaving(res);
    await delay(ms, undefined, { signal });
    const [row] = await database.query('SELECT NOW(6)', [], signal);
    res.json({ slept_ms: ms, now: sixDigits(row['NOW(6)']) });
  };
}

/** The binary protocol leaves out a fraction that is nought. */
function sixDigits(time) {
  return time.includes('.') ? time : `${time}.000000`;
}

/** C8 */
export function slowQuery(database) {
  return async (req, res) => {
    const ms = milliseconds(req);
    await database.query('SELECT SLEEP(?)', [ms / 1000], leaving(res).signal);
    res.json({ queried_ms: ms });
  };
}
