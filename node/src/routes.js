// The table of routes, and what is left of routing: unknown paths, methods, errors.
import express from 'express';
import createError from 'http-errors';
import { getBook, newBook } from './books.js';
import { block, compute } from './compute.js';
import { fanout } from './fanout.js';
import { answerProblem } from './problems.js';
import { healthz, readyz, runtime, stats } from './service.js';
import { events, ws } from './streaming.js';
import { hello, sleep, sleepQuery, slowQuery } from './waiting.js';

/** The handlers find what they need in the app's locals. */
export function createApp(locals) {
  const app = express();
  app.locals = locals;
  app.enable('case sensitive routing').enable('strict routing'); // C20
  app.set('query parser', (text) => new URLSearchParams(text)); // makes no arrays or objects (C22)
  app.disable('x-powered-by').disable('etag');
  // C62: without ETags nothing is ever fresh, but Express would answer 304 to "If-None-Match: *".
  Object.defineProperty(app.request, 'fresh', { value: false });

  // C21: .all() behind the handler takes OPTIONS too, which Express would answer itself.
  const refuse = (allow) => (req, res, next) =>
    next(createError(405, 'the method is not allowed here', { headers: { Allow: allow } }));
  const get = (path, handler) => app.route(path).get(handler).all(refuse('GET, HEAD'));

  // Express tries one route after the other, at a third of a microsecond each: what is not measured stands last.
  get('/hello', hello);
  get('/sleep', sleep);
  get('/sleep-query', sleepQuery);
  get('/slow-query', slowQuery);
  get('/books/:id', getBook);
  app.route('/books').post(newBook).all(refuse('POST'));
  get('/fanout', fanout);
  get('/compute', compute);
  get('/block', block);
  get('/events', events);
  app.route('/ws').head(refuse('GET')).get(ws).all(refuse('GET'));
  get('/healthz', healthz);
  get('/readyz', readyz);
  get('/runtime', runtime);
  get('/stats', stats);
  app.use((req, res, next) => next(createError(404, 'nothing is here')));
  app.use(answerProblem);
  return app;
}
