// The table of routes, and what is left of routing: unknown paths, methods, counting, errors.
import express from 'express';
import { book, newBook } from './books.js';
import { block, compute } from './compute.js';
import { fanout } from './fanout.js';
import { answerProblem, methodNotAllowed, notFound } from './problems.js';
import { wrongBookId } from './parameters.js';
import { healthz, readyz, runtime, stats as statsOf } from './service.js';
import { events, refuseWithoutUpgrade } from './streaming.js';
import { hello, sleep, sleepQuery, slowQuery } from './waiting.js';

export function createListener({ settings, database, upstream, stats, offload, streams }) {
  const app = express();
  app.enable('case sensitive routing').enable('strict routing'); // C20
  app.disable('x-powered-by').disable('etag').set('query parser', false);
  // C62: without ETags nothing is ever fresh, but Express would answer 304 to "If-None-Match: *".
  Object.defineProperty(app.request, 'fresh', { value: false });

  // C21: .all() behind the handler takes OPTIONS too, which Express would answer itself.
  const refuse = (allow) => () => {
    throw methodNotAllowed(allow);
  };
  const get = (path, handler) => app.route(path).get(handler).all(refuse('GET, HEAD'));

  // Express tries one route after the other, at a third of a microsecond each: what is not measured stands last.
  get('/hello', hello);
  get('/sleep', sleep);
  get('/sleep-query', sleepQuery(database));
  get('/slow-query', slowQuery(database));
  get('/books/:id', book(database));
  app.route('/books').post(newBook(database)).all(refuse('POST'));
  get('/fanout', fanout(settings, upstream));
  get('/compute', compute);
  get('/block', block(offload));
  get('/events', events(streams));
  app.route('/ws').head(refuse('GET')).get(refuseWithoutUpgrade).all(refuse('GET'));
  get('/healthz', healthz);
  get('/readyz', readyz(database));
  get('/runtime', runtime(settings, offload));
  get('/stats', statsOf(stats));
  app.use(() => {
    throw notFound();
  });
  // Nothing but the id of a book is ever decoded by the router, and fails there before its handler: /books/%zz.
  app.use((error, req, res, next) => next(error instanceof URIError ? wrongBookId() : error));
  app.use(answerProblem);

  // C4: counted before Express, where it costs half of what a middleware does.
  return (req, res) => {
    stats.count(req, res);
    app(req, res);
  };
}
