// C22, C23: what a request may say.
import createError from 'http-errors';
import getRawBody from 'raw-body';

const MAX_BODY_BYTES = 65_536;
const WHOLE_NUMBER = /^(0|[1-9][0-9]*)$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Undefined where it is none within the bounds. Above 2^53 it rounds, but never down to the greatest safe one. */
export function inBounds(text, min, max) {
  const number = WHOLE_NUMBER.test(text) ? Number(text) : NaN;
  return number >= min && number <= max ? number : undefined;
}

export function wholeNumber(query, name, min, max) {
  const number = inBounds(once(query, name), min, max);
  if (number !== undefined) return number;
  throw createError(400, `${name} must be given once, as a whole number from ${min} to ${max}`);
}

export function oneOf(query, name, first, second) {
  const value = once(query, name);
  if (value === first || value === second) return value;
  throw createError(400, `${name} must be given once, as ${first} or ${second}`);
}

export function bookId(text) {
  const id = inBounds(text, 1, Number.MAX_SAFE_INTEGER);
  if (id !== undefined) return id;
  throw createError(400, `id must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`);
}

/** C23: the checks stand in the order of C33, C34, C35, C36. */
export async function bookName(req, res) {
  const mediaType = (req.headers['content-type'] ?? '').split(';', 1)[0].trim().toLowerCase();
  if (mediaType !== 'application/json') throw createError(415, 'the body must be application/json');
  const name = parseJson(await readBody(req, res))?.name;
  const length = typeof name === 'string' ? [...name].length : 0; // in code points
  if (length < 1 || length > 255) throw createError(422, 'name must be a string of 1 to 255 characters');
  return name;
}

function once(query, name) {
  const values = query.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

/** express.json() reads a body that is too large to its end before it refuses it; raw-body, its own reader, does not. */
async function readBody(req, res) {
  const length = req.headers['content-length'];
  if (req.headers.expect && !(length > MAX_BODY_BYTES)) res.writeContinue();
  try {
    return await getRawBody(req, { length, limit: MAX_BODY_BYTES });
  } catch (error) {
    req.resume(); // the rest is read and dropped, so that the connection stays usable
    if (error.type !== 'entity.too.large') throw error;
    throw createError(413, `the body must not exceed ${MAX_BODY_BYTES} bytes`);
  }
}

function parseJson(bytes) {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw createError(400, 'the body must be JSON in UTF-8');
  }
}
