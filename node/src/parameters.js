// C22, C23: what a request may say.
import { badRequest, contentTooLarge, unprocessable, unsupportedMediaType } from './problems.js';

const MAX_BODY_BYTES = 65_536;
const MAX_NAME = 255; // code points
const WHOLE_NUMBER = /^(0|[1-9][0-9]*)$/;

/** Read from the raw query, for Express's own parsers make arrays and objects of it. */
export function query(req) {
  const start = req.url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : req.url.slice(start + 1));
}

export function wholeNumber(parameters, name, min, max) {
  const number = inBounds(once(parameters, name), min, max);
  if (number === undefined) throw badRequest(`${name} must be given once, as a whole number from ${min} to ${max}`);
  return number;
}

export function oneOf(parameters, name, first, second) {
  const value = once(parameters, name);
  if (value !== first && value !== second) throw badRequest(`${name} must be given once, as ${first} or ${second}`);
  return value;
}

export const milliseconds = (req) => wholeNumber(query(req), 'ms', 0, 60_000);

export function bookId(text) {
  const id = inBounds(text, 1, Number.MAX_SAFE_INTEGER);
  if (id === undefined) throw wrongBookId();
  return id;
}

export const wrongBookId = () => badRequest(`id must be a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`);

/** C23: the checks stand in the order of C33, C34, C35, C36. */
export async function bookName(req) {
  const mediaType = (req.headers['content-type'] ?? '').split(';', 1)[0].trim().toLowerCase();
  if (mediaType !== 'application/json') throw unsupportedMediaType();
  const name = parseJson(await readBody(req))?.name;
  // A string of n code points has at most 2n units: what is longer need not be counted.
  const fits = typeof name === 'string' && name.length > 0 && name.length <= 2 * MAX_NAME && name.isWellFormed();
  if (!fits || [...name].length > MAX_NAME) throw unprocessable(`name must be a string of 1 to ${MAX_NAME} characters`);
  return name;
}

function once(parameters, name) {
  const values = parameters.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function inBounds(text, min, max) {
  if (!WHOLE_NUMBER.test(text)) return undefined;
  const number = Number(text);
  // Above 2^53 a number rounds, but never down to the greatest safe one.
  return number >= min && number <= max ? number : undefined;
}

/** body-parser reads a body that is too large to its end before it says so; this says so at once. */
function readBody(req) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    let size = 0;
    const tooLarge = () => reject(contentTooLarge(MAX_BODY_BYTES));
    if (Number(req.headers['content-length']) > MAX_BODY_BYTES) return tooLarge();
    req.on('data', (chunk) => {
      size += chunk.length;
      if (size <= MAX_BODY_BYTES) return chunks.push(chunk);
      chunks.length = 0; // the rest is read and dropped, so that the connection stays usable
      return tooLarge();
    });
    req.once('end', () => resolve(Buffer.concat(chunks)));
    return req.once('error', reject);
  });
}

function parseJson(bytes) {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    throw badRequest('the body must be JSON in UTF-8');
  }
}
