// C30–C39: the one mapping from errors to answers. What is thrown on purpose is an http-error.
import { STATUS_CODES } from 'node:http';

// Node's own titles of these two are older than RFC 9110.
const TITLES = { ...STATUS_CODES, 413: 'Content Too Large', 422: 'Unprocessable Content' };

/** Express knows an error handler by its four parameters. */
// eslint-disable-next-line no-unused-vars
export function answerProblem(error, req, res, next) {
  if (res.closed || req.errored) return; // C40: the client left, and nobody reads an answer
  if (!error.status) console.error(error); // C39
  const { status, message, headers = {} } = error.status ? error : { status: 500, message: 'internal error' };
  const problem = { type: 'about:blank', title: TITLES[status], status, detail: message };
  res.status(status).set(headers).type('application/problem+json').json(problem);
}
