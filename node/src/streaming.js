// C14, C15, C24: streams, which last as long as their client wants, or until the service stops (C41).
import { WebSocketServer } from 'ws';
import { query, wholeNumber } from './parameters.js';
import { upgradeRequired } from './problems.js';

const MAX_MESSAGE_BYTES = 65_536;
const CLOSE_LIMIT_MS = 1_000; // for clients that do not answer a close
const GOING_AWAY = 1001;

/** The streams that are open in this worker. */
export class Streams {
  #stats;
  #responses = new Set();
  // What is too long ws closes with 1009, what is not UTF-8 with 1007; pongs are its own too.
  #server = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: () => false,
    closeTimeout: CLOSE_LIMIT_MS,
  });

  constructor(stats) {
    this.#stats = stats;
  }

  add(res) {
    this.#responses.add(res);
    res.once('close', () => this.#responses.delete(res));
  }

  /** C15: of 'upgrade'. The raw socket counts, for it closes whatever becomes of the handshake. */
  upgrade = (req, socket, head) => {
    this.#stats.countUntilClosed(socket);
    this.#server.handleUpgrade(req, socket, head, echo);
  };

  end() {
    for (const res of this.#responses) res.end();
    for (const socket of this.#server.clients) socket.close(GOING_AWAY);
  }
}

/** Every other request is answered as if it asked for no upgrade. */
export function wantsSocket({ method, url, headers }) {
  return method === 'GET' && /^\/ws(\?|$)/.test(url) && headers.upgrade.toLowerCase() === 'websocket';
}

/** C14 */
export function events(streams) {
  return (req, res) => {
    const intervalMs = wholeNumber(query(req), 'interval_ms', 10, 60_000);
    res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    if (req.method === 'HEAD') return res.end();
    let number = 0;
    const send = () => {
      if (!res.writableEnded) res.write(`data: ${number++}\n\n`);
    };
    send();
    const timer = setInterval(send, intervalMs);
    res.once('close', () => clearInterval(timer));
    return streams.add(res);
  };
}

/** C24: a GET that is here is no upgrade. */
export function refuseWithoutUpgrade() {
  throw upgradeRequired();
}

function echo(socket) {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  socket.on('error', () => {}); // ws has closed it already, with the code that fits
}
