// The real program as a child process, its database and its upstream away (C43): the exchanges and settings of
// contract/, and what those cannot say.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { WebSocket } from 'ws';
import { readSettings } from '../src/settings.js';

const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));
const DEADLINE_MS = 15_000;
const AT_ONCE = 16;
// Nobody listens there.
const AWAY = { DATABASE_URL: 'mysql://user:secret@127.0.0.1:1/nsb', UPSTREAM_URL: 'http://127.0.0.1:1' };

const contract = async (name) => JSON.parse(await readFile(new URL(`../../contract/${name}`, import.meta.url), 'utf8'));

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

/** The port of a server that accepts and says nothing. */
async function silence(t) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return server.address().port;
}

function launch(settings) {
  const child = spawn(process.execPath, [MAIN], {
    env: { ...AWAY, ...settings },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stderr }));
  return { child, ended };
}

async function launchService(t, settings) {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  await once(probe.close(), 'close');
  const service = launch({ PORT: String(port), DB_POOL_SIZE: '4', ...settings });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  t.after(() => {
    service.child.kill('SIGKILL');
    agent.destroy();
  });
  const ask = (path, options) => send({ port, path, agent, ...options });
  const stats = async () => JSON.parse((await ask('/stats')).body);
  await eventually(() => ask('/healthz'));
  return { ...service, port, ask, stats };
}

function send({ body, ...options }) {
  return new Promise((resolve, reject) => {
    const req = request({ host: '127.0.0.1', ...options }, (res) => {
      const chunks = [];
      res.on('error', reject);
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('end', () => {
        resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks).toString() });
      });
    });
    req.on('error', reject);
    req.end(body);
  });
}

describe('contract/exchanges.json', async () => {
  const { away, groups } = await contract('exchanges.json');

  function bytesOf(said) {
    if (Array.isArray(said)) return Buffer.concat(said.map(bytesOf));
    if (typeof said === 'string') return Buffer.from(said);
    return said.base64 ? Buffer.from(said.base64, 'base64') : Buffer.from(said.repeat.repeat(said.times));
  }

  async function play(service, said, answer) {
    const body = said.body === undefined ? undefined : bytesOf(said.body);
    const headers = { ...said.headers };
    if (said.content_type !== undefined) headers['Content-Type'] = said.content_type;
    if (said.chunked) headers['Transfer-Encoding'] = 'chunked';
    else if (body) headers['Content-Length'] = body.length;
    const got = await service.ask(said.target, { method: said.method, headers, body });
    const { location, allow, upgrade } = got.headers;
    const mediaType = got.headers['content-type']?.split(';')[0].trim().toLowerCase();
    const about = JSON.stringify(said).slice(0, 200);
    const whole = answer.body && bytesOf(answer.body);
    assert.deepEqual(
      [about, got.status, mediaType, got.headers['content-length'], got.body, location, allow, upgrade],
      [
        about,
        answer.status,
        answer.content_type,
        whole && String(whole.length),
        said.method === 'HEAD' ? '' : whole.toString(),
        answer.location,
        answer.allow,
        answer.upgrade,
      ],
    );
  }

  for (const TUNED of ['', 'true']) {
    test(`every one, in its form without database and upstream, TUNED=${TUNED}`, async (t) => {
      const service = await launchService(t, { WORKERS: '1', TUNED });
      const played = groups.flatMap(({ needs: [neighbour], answer, requests }) => {
        const wanted = neighbour === undefined ? answer : away[neighbour];
        return wanted ? requests.map((said) => play(service, said, wanted)) : []; // an endpoint that is not here
      });
      assert.ok(played.length > 500);
      await Promise.all(played);
    });
  }
});

describe('contract/settings.json', async () => {
  const { exit, variables } = await contract('settings.json');

  test('good values', () => {
    assert.equal(readSettings(AWAY).workers, availableParallelism());
    for (const { variable, good, with: others } of variables) {
      for (const value of good) readSettings({ ...AWAY, ...others, [variable]: value });
    }
  });

  for (const { variable, bad, with: others, sentence, begins } of variables) {
    test(`bad values of ${variable}`, async () => {
      for (const value of bad) {
        // No machine has this address (RFC 5737), so a value that is taken for good does not start a service.
        const { code, stderr } = await launch({ HOST: '192.0.2.1', ...others, [variable]: value }).ended;
        assert.equal(code, exit, stderr);
        assert.match(stderr, /^.+\n$/);
        assert.doesNotMatch(stderr, /secret/);
        if (sentence) assert.equal(stderr, `${sentence.replace('{value}', value)}\n`);
        else assert.ok(stderr.startsWith(begins.replace('{value}', value)), stderr);
      }
    });
  }

  test('an address that cannot be bound is said in one line where the second worker comes late', async () => {
    const late = `import cluster from 'node:cluster';
      const wait = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
      if (cluster.worker?.id === 2) process.on('message', wait);`;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(late)}`;
    const { code, stderr } = await launch({ HOST: '192.0.2.1', WORKERS: '2', NODE_OPTIONS }).ended;
    assert.equal(code, exit, stderr);
    assert.match(stderr, /^.+\n$/);
  });

  test('a name as HOST', async (t) => {
    const service = await launchService(t, { HOST: 'localhost', WORKERS: '1' });
    assert.equal((await service.ask('/hello')).body, 'hello');
  });
});

test('C23: a body that is announced as too large is refused before it comes', async (t) => {
  const service = await launchService(t, { WORKERS: '1' });
  const headers = { 'Content-Type': 'application/json', 'Content-Length': 65_537, Expect: '100-continue' };
  const req = request({ host: '127.0.0.1', port: service.port, path: '/books', method: 'POST', headers });
  req.flushHeaders();
  const [res] = await once(req, 'response');
  assert.equal(res.statusCode, 413);
  req.on('error', () => {}).destroy();
});

test('C37: 502 where the upstream is late', async (t) => {
  const UPSTREAM_URL = `http://127.0.0.1:${await silence(t)}`;
  const service = await launchService(t, { UPSTREAM_URL, UPSTREAM_TIMEOUT_MS: '200' });
  for (const mode of ['concurrent', 'sequential']) {
    assert.equal((await service.ask(`/fanout?calls=3&ms=1&mode=${mode}`)).status, 502);
  }
});

test('C38, C40: waiting for a connection ends at the limit, or where the client leaves', async (t) => {
  const DATABASE_URL = `mysql://user:secret@127.0.0.1:${await silence(t)}/nsb`;
  const service = await launchService(t, { DATABASE_URL, DB_ACQUIRE_TIMEOUT_MS: '1000', WORKERS: '1' });
  const waiting = async () => {
    const { in_flight, pool_waiting } = await service.stats();
    return [in_flight, pool_waiting];
  };
  const began = performance.now();
  assert.equal((await service.ask('/books/1')).status, 503);
  assert.ok(performance.now() - began >= 995);
  const leaving = request({ host: '127.0.0.1', port: service.port, path: '/books/1', agent: false }).end();
  leaving.on('error', () => {});
  await eventually(async () => assert.deepEqual(await waiting(), [1, 1]));
  leaving.destroy();
  await eventually(async () => assert.deepEqual(await waiting(), [0, 0]));
});

test('C38: a database that takes no more connections is away', async (t) => {
  const refusal = '\x17\0\0\0\xff\x10\x04Too many connections'; // error 1040, in the place of a greeting
  const full = createServer((socket) => socket.on('error', () => {}).end(refusal, 'latin1')).listen(0, '127.0.0.1');
  t.after(() => full.close());
  await once(full, 'listening');
  const DATABASE_URL = `mysql://user:secret@127.0.0.1:${full.address().port}/nsb`;
  const service = await launchService(t, { DATABASE_URL, WORKERS: '1' });
  assert.equal((await service.ask('/books/1')).status, 503);
});

for (const workers of ['1', '2']) {
  describe(`with ${workers} worker(s)`, () => {
    test('C4: counters over all workers', async (t) => {
      const service = await launchService(t, { WORKERS: workers });
      const asked = ['/hello', '/sleep?ms=50', '/nothing', '/books/x'];
      await Promise.all(asked.map((path) => service.ask(path, { agent: false })));
      await eventually(async () => assert.equal((await service.stats()).requests_total, asked.length));
      assert.ok((await service.stats()).busy_seconds_total >= 0.049);
    });

    for (const signal of ['SIGTERM', 'SIGINT']) {
      test(`C41: ${signal} ends streams at once, and requests when they are done`, async (t) => {
        const service = await launchService(t, { WORKERS: workers });
        const events = service.ask('/events?interval_ms=60000');
        const sleeping = service.ask('/sleep?ms=1000');
        const socket = new WebSocket(`ws://127.0.0.1:${service.port}/ws`);
        const closed = once(socket, 'close');
        await eventually(async () => assert.equal((await service.stats()).in_flight, 3));
        service.child.kill(signal);
        assert.equal((await events).body, 'data: 0\n\n');
        assert.equal((await closed)[0], 1001);
        assert.equal((await sleeping).body, '{"slept_ms":1000}');
        assert.deepEqual(await service.ended, { code: 0, signal: null, stderr: '' });
      });
    }
  });
}

test('a worker that dies ends the service, and a primary that is killed ends its workers', async (t) => {
  const first = await launchService(t, { WORKERS: '2' });
  const children = await readFile(`/proc/${first.child.pid}/task/${first.child.pid}/children`, 'utf8');
  process.kill(Number(children.split(' ', 1)[0]), 'SIGKILL');
  const { code, stderr } = await first.ended;
  assert.equal(code, 1);
  assert.match(stderr, /^worker \d ended unexpectedly \(SIGKILL\)\n$/);

  const second = await launchService(t, { WORKERS: '2' });
  second.child.kill('SIGKILL');
  await eventually(() => assert.rejects(second.ask('/healthz')));
});
