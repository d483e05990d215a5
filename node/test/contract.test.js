// The contract from outside: the real program as a child process, its database away, a small upstream beside it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const DEADLINE_MS = 15_000;

async function freePort() {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Tries until it answers without throwing, for a condition has a deadline and no fixed pause. */
async function eventually(attempt) {
  const end = Date.now() + DEADLINE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > end) throw error;
      await delay(20);
    }
  }
}

function launch(settings) {
  const child = spawn(process.execPath, [MAIN], { env: settings, stdio: ['ignore', 'inherit', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }));
  return { child, ended };
}

async function launchService(settings) {
  const port = await freePort();
  const service = launch({
    PORT: String(port),
    DATABASE_URL: `mysql://user:secret@127.0.0.1:${await freePort()}/nsb`, // nobody listens there
    ...settings,
  });
  const ask = (path, options) => send(port, path, options);
  await eventually(() => ask('/healthz'));
  return { ...service, port, ask };
}

function send(port, path, { method = 'GET', headers = {}, body, agent = false } = {}) {
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', port, path, method, headers, agent }, (res) => {
      const chunks = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('end', () => {
        resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks).toString() });
      });
      res.on('error', reject);
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** What has come of a stream so far; `ended` resolves to whether its body ended as HTTP ends one. */
async function openEvents(port, intervalMs) {
  const req = request({ host: '127.0.0.1', port, path: `/events?interval_ms=${intervalMs}`, agent: false }).end();
  const [res] = await once(req, 'response', { signal: AbortSignal.timeout(DEADLINE_MS) });
  const stream = { res, text: '', leave: () => req.destroy() };
  res.setEncoding('utf8').on('data', (text) => (stream.text += text));
  stream.ended = new Promise((resolve) => res.on('error', () => {}).on('close', () => resolve(res.complete)));
  return stream;
}

/** It offers to compress, as ws does by itself; `closed` resolves to the code. */
async function openSocket(port) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, { origin: 'https://elsewhere.example' });
  socket.messages = [];
  socket.on('message', (data, isBinary) => socket.messages.push([data.toString(), isBinary]));
  socket.closed = new Promise((resolve) => socket.on('close', resolve));
  await once(socket, 'open', { signal: AbortSignal.timeout(DEADLINE_MS) });
  return socket;
}

const problem = (title, status, detail) => JSON.stringify({ type: 'about:blank', title, status, detail });

function assertProblem(answer, title, status, detail) {
  assert.equal(answer.body, problem(title, status, detail));
  assert.equal(answer.status, status);
  assert.match(answer.headers['content-type'], /^application\/problem\+json/);
  assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(answer.body));
}

function assertJson(answer, body) {
  assert.equal(answer.body, body);
  assert.equal(answer.status, 200);
  assert.match(answer.headers['content-type'], /^application\/json/);
  assert.equal(Number(answer.headers['content-length']), Buffer.byteLength(body));
}

for (const workers of [1, 2]) {
  describe(`with ${workers} worker(s)`, () => {
    let service;
    let upstream;
    let held = 0; // calls at the upstream that wait
    let peak = 0;
    let upstreamStatus = 200;

    before(async () => {
      upstream = createServer((req, res) => {
        peak = Math.max(peak, ++held);
        const ms = Number(new URL(req.url, 'http://upstream').searchParams.get('ms'));
        const timer = setTimeout(() => res.writeHead(upstreamStatus).end('{}'), ms);
        res.once('close', () => {
          held -= 1;
          clearTimeout(timer);
        });
      }).listen(0, '127.0.0.1');
      await once(upstream, 'listening');
      service = await launchService({
        WORKERS: String(workers),
        UPSTREAM_URL: `http://127.0.0.1:${upstream.address().port}`,
        UPSTREAM_TIMEOUT_MS: '500',
      });
    });

    after(() => {
      service.child.kill('SIGKILL');
      upstream.closeAllConnections();
      upstream.close();
    });

    test('C1, C2, C43: lives without its database', async () => {
      assertJson(await service.ask('/healthz'), '{"status":"ok"}');
      assertProblem(await service.ask('/readyz'), 'Service Unavailable', 503, 'the database did not answer');
    });

    test('C3: says what is running', async () => {
      const facts = JSON.parse((await service.ask('/runtime')).body);
      assert.equal(facts.runtime_version, process.versions.node);
      assert.equal(facts.workers, workers);
      assert.equal(facts.pool_size, 150);
      assert.equal(facts.cancels_on_disconnect, true);
      assert.equal(facts.settings.upstream_timeout_ms, 500);
    });

    test('C4: counts every request but those about the service, over all workers', async () => {
      const counters = async () => JSON.parse((await service.ask('/stats')).body);
      const began = await counters();
      for (let i = 0; i < 4; i++) await service.ask('/hello');
      await service.ask('/nothing');
      await service.ask('/healthz');
      await eventually(async () => assert.equal((await counters()).requests_total, began.requests_total + 5));
      const sleeping = service.ask('/sleep?ms=400');
      await eventually(async () => assert.equal((await counters()).in_flight, 1));
      await sleeping;
      await eventually(async () => assert.equal((await counters()).in_flight, 0));
      assert.ok((await counters()).busy_seconds_total - began.busy_seconds_total >= 0.39);
    });

    test('C5, C21: hello, and its HEAD', async () => {
      const answer = await service.ask('/hello');
      assert.equal(answer.body, 'hello');
      assert.match(answer.headers['content-type'], /^text\/plain/);
      const head = await service.ask('/hello', { method: 'HEAD' });
      assert.equal(head.body, '');
      assert.equal(head.headers['content-length'], '5');
      assert.equal((await service.ask('/hello', { headers: { 'If-None-Match': '*' } })).status, 200);
    });

    test('C6: sleeps', async () => {
      const began = performance.now();
      assertJson(await service.ask('/sleep?ms=100&unknown=x'), '{"slept_ms":100}');
      assert.ok(performance.now() - began >= 99);
    });

    test('C7–C10, C38: 503 where the database is needed', async () => {
      const headers = { 'Content-Type': 'application/json' };
      const answers = await Promise.all([
        service.ask('/sleep-query?ms=0'),
        service.ask('/slow-query?ms=0'),
        service.ask('/books/1'),
        service.ask('/books', { method: 'POST', headers, body: '{"name":"b"}' }),
      ]);
      for (const answer of answers) {
        assertProblem(answer, 'Service Unavailable', 503, 'the database did not answer');
      }
    });

    test('C11: fans out', async () => {
      peak = 0;
      assertJson(
        await service.ask('/fanout?calls=5&ms=200&mode=concurrent'),
        '{"calls":5,"mode":"concurrent","completed":5}',
      );
      assert.equal(peak, 5);
      peak = 0;
      assertJson(
        await service.ask('/fanout?calls=3&ms=10&mode=sequential'),
        '{"calls":3,"mode":"sequential","completed":3}',
      );
      assert.equal(peak, 1);
    });

    test('C37: 502 where the upstream is late or answers otherwise, and the other calls end', async () => {
      const detail = 'the upstream did not answer';
      for (const mode of ['concurrent', 'sequential']) {
        assertProblem(await service.ask(`/fanout?calls=3&ms=30000&mode=${mode}`), 'Bad Gateway', 502, detail);
      }
      upstreamStatus = 500;
      assertProblem(await service.ask('/fanout?calls=3&ms=1&mode=concurrent'), 'Bad Gateway', 502, detail);
      upstreamStatus = 200;
      await eventually(() => assert.equal(held, 0));
    });

    test('C12, C13: computes and blocks', async () => {
      assertJson(await service.ask('/compute?rounds=1'), '{"rounds":1,"result":723471715}');
      assertJson(await service.ask('/compute?rounds=1000'), '{"rounds":1000,"result":3298996588}');
      assertJson(await service.ask('/block?ms=5&offload=false'), '{"blocked_ms":5,"offloaded":false}');
      assertJson(await service.ask('/block?ms=5&offload=true'), '{"blocked_ms":5,"offloaded":true}');
    });

    const inFlight = async (number) =>
      eventually(async () => assert.equal(JSON.parse((await service.ask('/stats')).body).in_flight, number));

    test('C14: sends events until the client leaves', { timeout: 4 * DEADLINE_MS }, async () => {
      const stream = await openEvents(service.port, 10);
      assert.equal(stream.res.statusCode, 200);
      assert.equal(stream.res.headers['content-type'], 'text/event-stream');
      assert.equal(stream.res.headers['cache-control'], 'no-store');
      assert.equal(stream.res.headers['content-length'], undefined);
      await eventually(() => assert.match(stream.text, /^data: 0\n\ndata: 1\n\ndata: 2\n\n/));
      await inFlight(1);
      stream.leave();
      await inFlight(0);
      const head = await service.ask('/events?interval_ms=60000', { method: 'HEAD' });
      assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', undefined]);
    });

    test('C15, C24: sends messages back, and nothing is negotiated', { timeout: 4 * DEADLINE_MS }, async () => {
      const socket = await openSocket(service.port);
      assert.equal(socket.extensions, '');
      const messages = [
        ['', false],
        ['', true],
        ['한😀', false],
        ['x'.repeat(65_536), true],
      ];
      for (const [data, binary] of messages) socket.send(data, { binary });
      await eventually(() => assert.deepEqual(socket.messages, messages));
      await inFlight(1);
      socket.terminate(); // without a goodbye
      await inFlight(0);
    });

    test('C24: refuses messages that are too long or not UTF-8', { timeout: 4 * DEADLINE_MS }, async () => {
      for (const [data, binary, code] of [
        ['x'.repeat(65_537), false, 1009],
        ['x'.repeat(65_537), true, 1009],
        [Buffer.from([0xff]), false, 1007],
      ]) {
        const socket = await openSocket(service.port);
        socket.send(data, { binary });
        assert.equal(await socket.closed, code);
      }
    });

    test('C24: 426 without an upgrade, and elsewhere an upgrade is ignored', async () => {
      const h2c = { Connection: 'Upgrade', Upgrade: 'h2c' };
      for (const headers of [{}, h2c]) {
        const answer = await service.ask('/ws', { headers });
        assertProblem(answer, 'Upgrade Required', 426, 'upgrade to a WebSocket');
        assert.equal(answer.headers.upgrade, 'websocket');
      }
      assert.equal((await service.ask('/hello', { headers: h2c })).body, 'hello');
    });

    test('C41: ends streams at once', { timeout: 4 * DEADLINE_MS }, async () => {
      const stopped = await launchService({ WORKERS: String(workers) });
      const stream = await openEvents(stopped.port, 60_000);
      const socket = await openSocket(stopped.port);
      stopped.child.kill('SIGTERM');
      assert.equal(await stream.ended, true);
      assert.equal(stream.text, 'data: 0\n\n');
      assert.equal(await socket.closed, 1001);
      assert.deepEqual(await stopped.ended, { code: 0, signal: null, stderr: '' });
    });

    test('C20, C31: paths match exactly', async () => {
      for (const path of ['/', '/hello/', '/HELLO', '/books/', '/books/1/', '/books/1/x']) {
        assertProblem(await service.ask(path), 'Not Found', 404, 'nothing is here');
      }
    });

    test('C21, C32: methods', async () => {
      const detail = 'the method is not allowed here';
      for (const [method, path, allow] of [
        ['OPTIONS', '/hello', 'GET, HEAD'],
        ['POST', '/healthz', 'GET, HEAD'],
        ['DELETE', '/books/x', 'GET, HEAD'],
        ['GET', '/books', 'POST'],
        ['OPTIONS', '/books', 'POST'],
        ['POST', '/events', 'GET, HEAD'],
        ['POST', '/ws', 'GET'],
      ]) {
        const answer = await service.ask(path, { method });
        assertProblem(answer, 'Method Not Allowed', 405, detail);
        assert.equal(answer.headers.allow, allow);
      }
      for (const path of ['/books', '/ws']) {
        const head = await service.ask(path, { method: 'HEAD' });
        assert.equal(head.status, 405);
        assert.equal(head.body, '');
        assert.equal(Number(head.headers['content-length']), problem('Method Not Allowed', 405, detail).length);
      }
    });

    test('C22, C35: parameters', async () => {
      const whole = (name, from, to) => `${name} must be given once, as a whole number from ${from} to ${to}`;
      const id = 'id must be a whole number from 1 to 9007199254740991';
      for (const [path, detail] of [
        ['/sleep', whole('ms', 0, 60000)],
        ['/sleep?ms=', whole('ms', 0, 60000)],
        ['/sleep?ms=01', whole('ms', 0, 60000)],
        ['/sleep?ms=%2B1', whole('ms', 0, 60000)],
        ['/sleep?ms=1%0A', whole('ms', 0, 60000)],
        ['/sleep?ms=%D9%A1', whole('ms', 0, 60000)],
        ['/sleep?ms=60001', whole('ms', 0, 60000)],
        ['/sleep?ms=1&ms=1', whole('ms', 0, 60000)],
        ['/sleep?MS=1', whole('ms', 0, 60000)],
        ['/sleep?ms[]=1', whole('ms', 0, 60000)],
        ['/fanout?calls=0&ms=x&mode=y', whole('calls', 1, 1000)],
        ['/fanout?calls=1&ms=x&mode=y', whole('ms', 0, 60000)],
        ['/fanout?calls=1&ms=1&mode=y', 'mode must be given once, as concurrent or sequential'],
        ['/compute?rounds=10000001', whole('rounds', 1, 10000000)],
        ['/block?ms=1001&offload=x', whole('ms', 0, 1000)],
        ['/block?ms=1000', 'offload must be given once, as false or true'],
        ['/events?interval_ms=9', whole('interval_ms', 10, 60000)],
        ['/books/0', id],
        ['/books/one', id],
        ['/books/%zz', id],
        ['/books/9007199254740992', id],
      ]) {
        assertProblem(await service.ask(path), 'Bad Request', 400, detail);
      }
    });

    test('C23, C33–C36: bodies', async () => {
      const post = (body, type = 'application/json', headers = {}) =>
        service.ask('/books', { method: 'POST', headers: type ? { 'Content-Type': type, ...headers } : headers, body });
      const tooLarge = `"${'x'.repeat(65_535)}"`;
      const media = ['Unsupported Media Type', 415, 'the body must be application/json'];
      assertProblem(await post(tooLarge, 'text/plain'), ...media);
      assertProblem(await post('{"name":"b"}', null), ...media);
      const large = ['Content Too Large', 413, 'the body must not exceed 65536 bytes'];
      assertProblem(await post(tooLarge), ...large);
      assertProblem(await post(tooLarge, 'application/json', { 'Transfer-Encoding': 'chunked' }), ...large);
      const json = ['Bad Request', 400, 'the body must be JSON in UTF-8'];
      for (const body of ['', '{', '{"name":NaN}', '{"name":"b"} x', Buffer.from('{"name":"\xff"}', 'latin1')]) {
        assertProblem(await post(body), ...json);
      }
      const name = ['Unprocessable Content', 422, 'name must be a string of 1 to 255 characters'];
      const full = `"${'x'.repeat(65_534)}"`; // 65536 bytes
      for (const body of ['null', '[]', '1', full, '{}', '{"Name":"b"}', '{"name":1}', '{"name":""}']) {
        assertProblem(await post(body), ...name);
      }
      for (const text of ['x'.repeat(256), '😀'.repeat(256), '\\ud800']) {
        assertProblem(await post(`{"name":"${text}"}`), ...name);
      }
      assertProblem(await post('{"name":"a","name":2}'), ...name);
      for (const type of ['Application/JSON', 'application/json; charset=utf-8']) {
        assert.equal((await post(`{"name":"${'😀'.repeat(255)}"}`, type)).status, 503); // past every check
      }
    });

    test('C40: a client that leaves is waited for no longer', async () => {
      const socket = connect(service.port, '127.0.0.1');
      socket.write('GET /fanout?calls=2&ms=30000&mode=concurrent HTTP/1.1\r\nHost: x\r\n\r\n');
      await eventually(() => assert.equal(held, 2));
      socket.destroy();
      await eventually(() => assert.equal(held, 0));
      await eventually(async () => assert.equal(JSON.parse((await service.ask('/stats')).body).in_flight, 0));
    });

    test('C41: finishes what is in flight, then ends', async () => {
      const stopped = await launchService({ WORKERS: String(workers) });
      const sleeping = stopped.ask('/sleep?ms=1000');
      await eventually(async () => assert.match((await stopped.ask('/stats')).body, /"in_flight":1/));
      stopped.child.kill('SIGTERM');
      assertJson(await sleeping, '{"slept_ms":1000}');
      assert.deepEqual(await stopped.ended, { code: 0, signal: null, stderr: '' });
      await assert.rejects(stopped.ask('/healthz'));
    });
  });
}

test('C38: no connection within DB_ACQUIRE_TIMEOUT_MS', async (t) => {
  const silent = createTcpServer().listen(0, '127.0.0.1'); // accepts, and never greets
  await once(silent, 'listening');
  const service = await launchService({
    WORKERS: '1',
    DATABASE_URL: `mysql://user:secret@127.0.0.1:${silent.address().port}/nsb`,
    DB_ACQUIRE_TIMEOUT_MS: '200',
  });
  t.after(() => {
    service.child.kill('SIGKILL');
    silent.close();
  });
  const began = performance.now();
  assertProblem(await service.ask('/books/1'), 'Service Unavailable', 503, 'the database did not answer');
  assert.ok(performance.now() - began >= 195);
  assert.match((await service.ask('/stats')).body, /"pool_in_use":0,"pool_waiting":0/);
});

test('C42: a wrong setting ends the start', async () => {
  const right = { DATABASE_URL: 'mysql://user:secret@127.0.0.1/nsb' };
  for (const [settings, sentence] of [
    [{}, 'DATABASE_URL="" is not mysql://user:password@host:port/database'],
    [{ PORT: 'abc', ...right }, 'PORT="abc" is not a whole number from 1 to 65535'],
    [{ PORT: '08080', ...right }, 'PORT="08080" is not a whole number from 1 to 65535'],
    [{ WORKERS: '0', ...right }, 'WORKERS="0" is not a whole number from 1 to 1024'],
    [{ WORKERS: '3', DB_POOL_SIZE: '2', ...right }, 'DB_POOL_SIZE="2" is not a whole number from 3 to 10000'],
    [{ SERVER_THREADS: '-1', ...right }, 'SERVER_THREADS="-1" is not a whole number from 1 to 100000'],
    [{ UPSTREAM_URL: 'http://h:1/p', ...right }, 'UPSTREAM_URL="http://h:1/p" is not http://host:port'],
    [
      { DATABASE_URL: 'mysql://user:s3cr@t@host:x/nsb' },
      'DATABASE_URL="mysql://user:***@host:x/nsb" is not mysql://user:password@host:port/database',
    ],
    [
      { DATABASE_URL: 'postgres://user:secret' },
      'DATABASE_URL="postgres://user:***" is not mysql://user:password@host:port/database',
    ],
  ]) {
    assert.deepEqual(await launch(settings).ended, { code: 2, signal: null, stderr: `${sentence}\n` });
  }
});

test('a worker that dies ends the service, and a primary that is killed ends its workers', async () => {
  const first = await launchService({ WORKERS: '2' });
  const [victim] = await childrenOf(first.child.pid);
  process.kill(victim, 'SIGKILL');
  const { code, stderr } = await first.ended;
  assert.equal(code, 1);
  assert.match(stderr, /^worker \d ended unexpectedly \(SIGKILL\)\n$/);

  const second = await launchService({ WORKERS: '2' });
  second.child.kill('SIGKILL');
  await eventually(() => assert.rejects(second.ask('/healthz')));
});

async function childrenOf(pid) {
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
}
