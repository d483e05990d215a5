// The one load script: everything about a cell comes as data in NSB_CELL (see bench/src/nsb/measure/k6.py, which writes it).
//
// Window edges are absolute times that the harness uses too, so both read the same window. A request counts in the half in which its answer came; what
// starts after the window is not sent. A whole load (cell.whole) begins with the window, all users at once, and every answer counts, however late it
// comes. Latency in an open cell is measured from the schedule (intended start), so that a late generator cannot hide waiting (coordinated omission).
import http from 'k6/http';
import exec from 'k6/execution';
import { sleep } from 'k6';
import { Counter, Trend } from 'k6/metrics';

const cell = JSON.parse(__ENV.NSB_CELL);
const open = cell.model === 'open';
const middle = (cell.window_from_ms + cell.window_to_ms) / 2;

const latency = new Trend('nsb_latency', true); // open: from the schedule; closed: from the send
const service = new Trend('nsb_service', true); // k6's own http_req_duration
const iteration = new Trend('nsb_iteration', true); // the whole iteration, connecting included
const lag = new Trend('nsb_lag', true); // how late the generator was
const sent = new Counter('nsb_sent'); // before the answer: what k6 gives up at its end is in it too
const opened = new Counter('nsb_opened'); // connections
const odd = new Counter('nsb_odd'); // the last request of each user, see askOdd
const started = new Counter('nsb_started');
const beside = new Trend('nsb_beside', true); // the heavier requests among those that are measured
const failures = new Counter('nsb_failures');
const wrong = new Counter('nsb_wrong_bodies');
const moments = new Trend('nsb_moments', true); // of a whole load: when requests were sent and answered, after the window's opening
const checked = new Counter('nsb_checked_bodies');
const tooShort = new Counter('nsb_too_short'); // answered sooner than the hold: a cheat

const tags = { before: { phase: 'before' }, h1: { phase: 'h1', window: 'in' }, h2: { phase: 'h2', window: 'in' }, after: { phase: 'after' } };
const submetrics = ['phase:h1', 'phase:h2', 'window:in'];
const thresholds = { nsb_failures: ['count>=0'] };
for (const name of ['nsb_latency', 'nsb_service', 'nsb_iteration', 'nsb_started', 'nsb_failures', 'nsb_lag', 'nsb_beside']) {
  for (const part of submetrics) thresholds[`${name}{${part}}`] = ['nsb_started', 'nsb_failures'].includes(name) ? ['count>=0'] : ['max>=0'];
}

for (const level of cell.still.keys()) thresholds[`nsb_service{still:${level}}`] = ['max>=0'];

export const options = {
  scenarios: {
    load: open
      ? { executor: 'constant-arrival-rate', rate: cell.rate, timeUnit: '1s', duration: `${cell.duration_ms}ms`, preAllocatedVUs: cell.vus, maxVUs: cell.vus, gracefulStop: `${cell.drain_ms}ms` }
      : cell.iterations !== null
        ? { executor: 'shared-iterations', vus: cell.vus, iterations: cell.iterations, maxDuration: `${cell.duration_ms}ms`, gracefulStop: `${cell.drain_ms}ms` }
        : { executor: 'constant-vus', vus: cell.vus, duration: `${cell.duration_ms}ms`, gracefulStop: `${cell.drain_ms}ms` },
  },
  thresholds,
  summaryTrendStats: ['count', 'avg', 'min', 'med', 'p(90)', 'p(99)', 'p(99.9)', 'max'],
  systemTags: [],
  noUsageReport: true,
  noConnectionReuse: !cell.keep_alive,
  userAgent: '', // none: a service must not know k6 from the generator, or from a check of the contract
  dns: { ttl: 'inf' },
};

const parameters = { timeout: `${cell.timeout_ms}ms`, responseType: 'none' };
const checking = { timeout: `${cell.timeout_ms}ms`, responseType: 'text' };
if (cell.send !== null) parameters.headers = checking.headers = { 'Content-Type': 'application/json' };

function phaseOf(now) {
  if (now < cell.window_from_ms) return tags.before;
  if (now < middle) return tags.h1;
  return now < cell.window_to_ms || cell.whole ? tags.h2 : tags.after;
}

// While connections are held beside the load: which level stands, where all of it is open and no collection has been asked for.
function stillOf(now, phase) {
  const level = cell.still.findIndex(([from, to]) => now >= from && now < to);
  return level < 0 ? phase : { ...phase, still: String(level) };
}

// `*` in the expected body stands for any run of characters; at most one is used.
function matches(pattern, body, id) {
  const expected = pattern.replaceAll('{id}', id);
  const star = expected.indexOf('*');
  if (star < 0) return body === expected;
  return body !== null && body.startsWith(expected.slice(0, star)) && body.endsWith(expected.slice(star + 1));
}

// How long a body has to be: `bytes`, and the digits of the id `times`; nothing where a `*` leaves it open.
for (const target of [cell, cell.beside, ...(cell.mix ?? [])]) {
  if (target === null || target.body.includes('*') || !/^[\x20-\x7e]*$/.test(target.body)) continue;
  target.times = target.body.split('{id}').length - 1;
  target.bytes = target.body.length - 4 * target.times;
}

// The first wrong answer of a user, for whoever reads the log: request and both bodies.
let told = false;
function quote(target, url, response, id) {
  wrong.add(1);
  if (told) return;
  told = true;
  const got = response.body === null ? `${response.headers['Content-Length']} bytes` : response.body.slice(0, 300);
  console.error(`wrong answer: asked ${target.method} ${url} ${target.send ?? ''}, expected ${target.body.replaceAll('{id}', id)}, got ${got}`);
}

// The last request of a user, when the window has closed: it is like the others, and nothing is there (C31). It is in no figure. Who answers without
// reading what is asked is found by it.
const nothing = '{"type":"about:blank","title":"Not Found","status":404,"detail":"nothing is here"}';
const elsewhere = cell.url.replace(/^(http:\/\/[^/]+\/)(.)/, (_, host, letter) => host + String.fromCharCode(letter.charCodeAt(0) + 1)).replace('{id}', '1');
let oddAsked = false;
function askOdd() {
  oddAsked = true;
  odd.add(1);
  const response = http.request('GET', elsewhere, null, { timeout: parameters.timeout, responseType: 'text' });
  if (response.status === 0 || (response.status === 404 && response.body === nothing)) return; // 0: nobody answered, which others tell
  quote({ method: 'GET', body: `${nothing} with status 404` }, elsewhere, response, '');
}

// A fixed pseudo-random walk over the ids (Knuth's multiplicative hash), the same for every contender of a run (the seed is the run's).
function idOf(n, ids) {
  return 1 + (((n + cell.seed) * 2654435761) % 4294967296) % ids;
}

// When this user sends its first request: the starts are spread, so that answers do not come in convoys. On a ladder its level must have begun.
function firstStart(begin) {
  let below = 0;
  for (const level of cell.levels) {
    if (exec.vu.idInTest <= level.vus) return level.at_ms + ((exec.vu.idInTest - 1 - below) / (level.vus - below)) * cell.spread_ms;
    below = level.vus;
  }
  return begin + ((exec.vu.idInTest - 1) / cell.vus) * cell.spread_ms;
}

export default function () {
  const begin = Date.now();
  if (!open && exec.vu.iterationInScenario === 0 && cell.spread_ms > 0) {
    sleep(Math.max(0, firstStart(begin) - begin) / 1000);
  } else if (cell.whole && begin < cell.window_from_ms) {
    sleep((cell.window_from_ms - begin) / 1000);
  } else if (begin >= cell.window_to_ms && cell.iterations === null) {
    if (!oddAsked && !cell.whole) askOdd();
    else if (!open) sleep(0.2);
    return;
  }
  const n = exec.scenario.iterationInTest;
  const start = Date.now();
  const late = open ? Math.max(0, start - (exec.scenario.startTime + (n * 1000) / cell.rate)) : 0;
  const heavy = cell.beside !== null && n % cell.beside.every === cell.beside.every - 1;
  const check = heavy || n === 0 || Math.random() < 0.02; // drawn: a service can count, too
  const target = heavy ? cell.beside : cell;
  const id = target.ids > 0 ? idOf(n, target.ids) : 0;
  const url = target.ids > 0 ? target.url.replace('{id}', id) : target.url;
  sent.add(1);
  const response = http.request(target.method, url, target.send, check ? checking : parameters);
  const end = Date.now();
  const phase = phaseOf(end);
  started.add(1, phaseOf(start));
  if (response.timings.connecting > 0) opened.add(1);
  if (cell.whole) {
    moments.add(start - cell.window_from_ms);
    moments.add(end - cell.window_from_ms);
  }
  if (response.status !== target.answer_status) {
    failures.add(1, phase);
    if (cell.model === 'closed' && response.status === 0) sleep(0.05); // a refused connection must not become a busy loop
    return;
  }
  const length = response.headers['Content-Length'];
  const long = target.bytes === undefined || length === undefined || Number(length) === target.bytes + (target.times > 0 ? target.times * String(id).length : 0);
  if (check) checked.add(1);
  if (!long || (check && !matches(target.body, response.body, id))) quote(target, url, response, id);
  const took = response.timings.duration;
  if (took < (heavy ? cell.beside.hold_ms : cell.hold_ms) - 2) tooShort.add(1);
  if (heavy) {
    beside.add(took, phase);
    return;
  }
  const waited = late + response.timings.blocked + took;
  latency.add(open ? waited : took, phase);
  service.add(took, stillOf(end, phase));
  iteration.add(end - start, phase);
  if (open) lag.add(late, phase);
}

export function handleSummary(data) {
  const metrics = {};
  for (const [name, metric] of Object.entries(data.metrics)) metrics[name] = metric.values;
  return { [cell.summary]: JSON.stringify({ metrics, state: data.state }) };
}
