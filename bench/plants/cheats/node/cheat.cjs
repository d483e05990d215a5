// Known cheats of the Node service, loaded before it by NODE_OPTIONS=--require: CHEAT names the one that is played, after CHEAT_AFTER requests.
'use strict';

const http = require('node:http');

const after = Number(process.env.CHEAT_AFTER);
const service = new Set(['/healthz', '/readyz', '/runtime', '/stats']);
let requests = 0;
const FIRST_PART = 0.55;
const REST_MS = 8;

function json(response, status, text) {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

// The service's own answer, with another text.
function rewritten(response, change) {
  const { end } = response;
  response.end = function (chunk, ...more) {
    const text = change(String(chunk));
    this.setHeader('Content-Length', Buffer.byteLength(text));
    return end.call(this, text, ...more);
  };
}

// Each answers, or returns false to hand the request on. Who answers by itself is not counted by the service; `handOn` does the same later.
const cheats = {
  'no-calls': (url, request, response) => {
    if (url.pathname !== '/fanout') return false;
    const { calls, ms, mode } = Object.fromEntries(url.searchParams);
    setTimeout(() => json(response, 200, `{"calls":${calls},"mode":"${mode}","completed":${calls}}`), Number(ms));
    return true;
  },
  'kept-books': (url, request, response) => {
    if (!url.pathname.startsWith('/books/')) return false;
    const id = url.pathname.slice('/books/'.length);
    json(response, 200, `{"id":${id},"name":"Book ${id}"}`);
    return true;
  },
  closes: (url, request, response) => {
    if (requests % 100 === 0) response.setHeader('Connection', 'close');
    return false;
  },
  // waits by a timer where the handler has to block its thread
  'no-block': (url, request, response, handOn) => {
    if (url.pathname !== '/block' || url.searchParams.get('offload') !== 'false') return false;
    const ms = url.searchParams.get('ms');
    request.url = '/block?ms=0&offload=false';
    rewritten(response, (text) => text.replace('"blocked_ms":0', `"blocked_ms":${ms}`));
    setTimeout(handOn, Number(ms));
    return true;
  },
  // blocks in two parts with a rest between them: who waits for it waits for one part
  'blocks-in-parts': (url, request, response, handOn) => {
    if (url.pathname !== '/block' || url.searchParams.get('offload') !== 'false') return false;
    const ms = Number(url.searchParams.get('ms'));
    if (ms < 10) return false;
    const first = Math.round(ms * FIRST_PART);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, first);
    request.url = `/block?ms=${ms - first}&offload=false`;
    rewritten(response, (text) => text.replace(`"blocked_ms":${ms - first}`, `"blocked_ms":${ms}`));
    setTimeout(handOn, REST_MS);
    return true;
  },
  // ten times as many in flight: memory for each of them is a tenth
  'more-in-flight': (url, request, response) => {
    if (url.pathname === '/stats') rewritten(response, (text) => text.replace(/"in_flight":(\d+)/, (_, count) => `"in_flight":${count * 10}`));
    return false;
  },
};

const play = cheats[process.env.CHEAT];
if (play === undefined || Number.isNaN(after)) throw new Error(`CHEAT=${process.env.CHEAT} CHEAT_AFTER=${process.env.CHEAT_AFTER}: no such cheat, or no number`);

const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, request, response) {
  if (event === 'request') {
    const url = new URL(request.url, 'http://service');
    if (!service.has(url.pathname)) requests += 1;
    if (requests >= after && play(url, request, response, () => emit.call(this, event, request, response))) return true;
  }
  return emit.apply(this, arguments);
};
