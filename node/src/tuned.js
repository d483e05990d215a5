// The contender node-tuned: ways of node:http that few Express services take. README.md says what each should save.
import { IncomingMessage, ServerResponse } from 'node:http';

/** Makes Express answer by one writeHead; returns options of a server that makes requests with Express' prototypes. */
export function tune({ request, response }) {
  response.type = function type(mediaType) {
    this.mediaType = mediaType;
    return this;
  };
  response.send = function send(text) {
    const type = this.mediaType ?? 'application/json; charset=utf-8';
    return this.writeHead(this.statusCode, ['Content-Type', type, 'Content-Length', Buffer.byteLength(text)]).end(text);
  };
  response.json = function json(value) {
    return this.send(JSON.stringify(value));
  };
  return { IncomingMessage: maker(IncomingMessage, request), ServerResponse: maker(ServerResponse, response) };
}

function maker(Base, prototype) {
  function Made(...values) {
    return Reflect.construct(Base, values, Made); // Base.apply(this) has V8 begin with an object of few fields
  }
  Made.prototype = prototype;
  return Made;
}
