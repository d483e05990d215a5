// C14, C15, C24: streams, which last as long as their client wants, or until the service stops (C41).
import createError from 'http-errors';
import { WebSocketServer } from 'ws';
import { wholeNumber } from './parameters.js';

/** The streams that are open in this worker. */
export class Streams {
  responses = new Set();
  // What is too long ws closes with 1009, what is not UTF-8 with 1007; pongs are its own too.
  #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: 65_536,
    perMessageDeflate: false,
    handleProtocols: () => false,
    closeTimeout: 1_000, // for clients that do not answer a close
  });

  /** C15: hears of each upgrade. */
  accept = (req, socket, head) => this.#sockets.handleUpgrade(req, socket, head, echo);

  end() {
    for (const res of this.responses) res.end();
    for (const socket of this.#sockets.clients) socket.close(1001);
  }
}

/** Every other request is answered as if it asked for no upgrade. */
export function wantsSocket({ method, url, headers }) {
  return method === 'GET' && /^\/ws(\?|$)/.test(url) && headers.upgrade.toLowerCase() === 'websocket';
}

export function events(req, res) {
  const intervalMs = wholeNumber(req.query, 'interval_ms', 10, 60_000);
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  if (req.method === 'HEAD') return res.end();
  let number = 0;
  const send = () => res.writableEnded || res.write(`data: ${number++}\n\n`);
  send();
  const timer = setInterval(send, intervalMs);
  const { responses } = req.app.locals.streams;
  responses.add(res);
  return res.once('close', () => {
    clearInterval(timer);
    responses.delete(res);
  });
}

/** C24: a GET that is here is no upgrade. RFC 9110 asks for Connection beside Upgrade; close, for Node would not. */
export function ws() {
  throw createError(426, 'upgrade to a WebSocket', { headers: { Upgrade: 'websocket', Connection: 'Upgrade, close' } });
}

function echo(socket) {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  socket.on('error', () => {}); // ws has closed it already, with the code that fits
}
