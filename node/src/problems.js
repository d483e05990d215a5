// C30–C39: the one mapping from errors to answers.

// Node's own titles of 413 and 422 are older than RFC 9110.
const TITLES = {
  400: 'Bad Request',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  426: 'Upgrade Required',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

export class Problem extends Error {
  constructor(status, detail, { cause, headers = {} } = {}) {
    super(detail, { cause });
    this.status = status;
    this.headers = headers;
  }
}

export const notFound = (detail = 'nothing is here') => new Problem(404, detail);
export const methodNotAllowed = (allow) =>
  new Problem(405, 'the method is not allowed here', { headers: { Allow: allow } });
export const unsupportedMediaType = () => new Problem(415, 'the body must be application/json');
export const contentTooLarge = (limit) => new Problem(413, `the body must not exceed ${limit} bytes`);
export const badRequest = (detail) => new Problem(400, detail);
export const unprocessable = (detail) => new Problem(422, detail);
// RFC 9110 asks for Connection beside Upgrade; with close, because Node would keep a connection that the client wants closed.
export const upgradeRequired = () =>
  new Problem(426, 'upgrade to a WebSocket', { headers: { Upgrade: 'websocket', Connection: 'Upgrade, close' } });
export const upstreamAway = (cause) => new Problem(502, 'the upstream did not answer', { cause });
export const databaseAway = (cause) => new Problem(503, 'the database did not answer', { cause });

/** Express knows an error handler by its four parameters. */
// eslint-disable-next-line no-unused-vars
export function answerProblem(error, req, res, next) {
  if (res.closed || req.errored) return; // C40: the client left, and nobody reads an answer
  const problem = error instanceof Problem ? error : internalError(error);
  res.status(problem.status).set(problem.headers).type('application/problem+json').json({
    type: 'about:blank',
    title: TITLES[problem.status],
    status: problem.status,
    detail: problem.message,
  });
}

function internalError(error) {
  console.error(error); // C39
  return new Problem(500, 'internal error');
}
