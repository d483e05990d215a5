// Known cheats of the Node service, loaded before it by NODE_OPTIONS=--require: CHEAT names the one that is played, after CHEAT_AFTER requests.
'use strict';

const http = require('node:http');

const after = Number(process.env.CHEAT_AFTER);
const service = new Set(['/healthz', '/readyz', '/runtime', '/stats']);
let requests = 0;

function json(response, status, text) {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
  response.end(text);
}

// Each answers, or returns false to hand the request on. None of them is counted by the service, as it is none of its requests.
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
};

const play = cheats[process.env.CHEAT];
if (play === undefined || Number.isNaN(after)) throw new Error(`CHEAT=${process.env.CHEAT} CHEAT_AFTER=${process.env.CHEAT_AFTER}: no such cheat, or no number`);

const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, request, response) {
  if (event === 'request') {
    const url = new URL(request.url, 'http://service');
    if (!service.has(url.pathname)) requests += 1;
    if (requests >= after && !service.has(url.pathname) && play(url, request, response)) return true;
  }
  return emit.apply(this, arguments);
};
