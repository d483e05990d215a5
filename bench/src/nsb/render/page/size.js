// What a workload takes of each contender, by the cost model: analyse/size.py in JavaScript, with the same names and units; a test compares
// the two. Needs no page.
'use strict';
const size = (() => {
  const KINDS = ['base', 'query', 'insert', 'call', 'compute', 'wait'];

  // Thousands of rounds of the contract's loop that compute_ms stands for; null where its contender's loop was not measured.
  function thousandsOf(model, load) {
    if (load.compute_ms === 0) return 0;
    const of = model.contenders.find((each) => each.contender === (load.compute_on || model.reference));
    const cost = of && of.coefficients.compute;
    return !cost || cost.value <= 0 ? null : (load.compute_ms * 1000) / cost.value;
  }

  function sized(model, load) {
    const thousands = thousandsOf(model, load);
    return model.contenders.map((each) => one(each, load, thousands));
  }

  function one(of, load, thousands) {
    const statements = load.queries + load.inserts;
    const held = Math.ceil((load.rate * statements * load.query_ms) / 1000 / load.utilisation);
    const called = Math.ceil((load.rate * load.calls * load.call_ms) / 1000);
    const work = [1, load.queries, load.inserts, load.calls, thousands || 0, load.wait_ms > 0 ? 1 : 0];
    const unknown = KINDS.filter((kind, k) => work[k] > 0 && !of.known.includes(kind));
    if (thousands === null) unknown.push('compute');
    if (unknown.length || !of.rounds.length) {
      return {
        contender: of.contender, cpu_us: null, cores: null, memory_mib: null, memory_bound: false, in_flight: null, threads: null,
        db_connections: held, upstream_connections: called, connections: null, p50_ms: null, full_first: null, full_at: null,
        lacks: pool(of, held), price: null, unknown,
      };
    }
    const cpu = cost(of, work);
    const cores = times(cpu, load.rate / 1e6 / load.utilisation);
    const looped = of.stations.blocked_by === 'loop' && load.blocking_ms > 0;
    const [demand, blocked] = [cpu.value / 1e6, load.blocking_ms / 1000];
    const loops = Math.ceil((load.rate * (demand + blocked)) / load.utilisation);
    const whole = Math.max(1, Math.ceil(cores.value));
    const served = (demand + (looped ? blocked : 0)) / (1 - load.utilisation) + (looped ? 0 : blocked);
    const response = (load.wait_ms + (load.calls > 0 ? load.call_ms : 0) + statements * load.query_ms) / 1000 + served;
    const inFlight = load.rate * response;
    const threads = of.stations.threads === null ? null : Math.ceil(inFlight / load.utilisation + load.idle);
    const [memory, bound, missing] = memoryOf(of, load, inFlight, looped ? Math.max(whole, loops) : whole);
    const lacks = pool(of, held);
    if (threads !== null && threads > of.stations.threads) lacks.unshift({ station: 'threads', needs: threads, has: of.stations.threads });
    if (looped) lacks.unshift({ station: 'loop', needs: loops, has: whole });
    const full = fullAt(of, load, response, looped ? demand + blocked : null, whole);
    const first = Object.keys(full).reduce((least, station) => (full[station] < full[least] ? station : least));
    return {
      contender: of.contender, cpu_us: cpu, cores, memory_mib: memory, memory_bound: bound, in_flight: inFlight, threads,
      db_connections: held, upstream_connections: called, connections: Math.ceil(inFlight + load.idle), p50_ms: response * 1000,
      full_first: first, full_at: full[first], lacks, price: priceOf(load, cores, memory), unknown: missing,
    };
  }

  // CPU per request (µs): geometric mean over the rounds with its t interval, wider by the misfit on either side.
  function cost(of, work) {
    const logs = of.rounds.map((own) => Math.log(Math.max(work.reduce((sum, count, k) => sum + count * own[k], 0), 1e-9)));
    const mean = logs.reduce((sum, each) => sum + each, 0) / logs.length;
    if (of.t === null) return { value: Math.exp(mean), low: null, high: null };
    const squares = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0);
    const width = of.t * Math.sqrt(squares / (logs.length - 1) / logs.length) + of.misfit;
    return { value: Math.exp(mean), low: Math.exp(mean - width), high: Math.exp(mean + width) };
  }

  function fullAt(of, load, response, looped, loops) {
    const full = { cores: load.rate / load.utilisation };
    const statements = load.queries + load.inserts;
    if (of.stations.threads !== null) full.threads = Math.max(0, of.stations.threads - load.idle) / response;
    if (statements > 0 && load.query_ms > 0 && of.stations.pool > 0) full.pool = of.stations.pool / ((statements * load.query_ms) / 1000);
    if (looped !== null) full.loop = loops / looped;
    return full;
  }

  function pool(of, held) {
    return held > of.stations.pool && of.stations.pool > 0 ? [{ station: 'pool', needs: held, has: of.stations.pool }] : [];
  }

  function memoryOf(of, load, inFlight, workers) {
    const each = [
      ['base_mib', of.memory.base_mib, of.stations.processes ? workers / of.stations.workers : 1],
      ['in_flight_kib', of.memory.in_flight_kib, inFlight / 1024],
    ];
    if (load.idle > 0) each.push(['connection_kib', of.memory.connection_kib, load.idle / 1024]);
    const missing = each.filter(([, found]) => found === null).map(([name]) => name);
    if (missing.length) return [null, false, missing];
    const total = (end) => each.reduce((sum, [, found, count]) => sum + found[end] * count, 0);
    return [{ value: total('value'), low: total('low'), high: total('high') }, each.some(([, found]) => found.bound), []];
  }

  function times(span, factor) {
    const by = (value) => (value === null ? null : value * factor);
    return { value: span.value * factor, low: by(span.low), high: by(span.high) };
  }

  // Of what prices are given; null where a part of it is not known.
  function priceOf(load, cores, memory) {
    const { core_price: core, gib_price: gib } = load;
    if ((core === null && gib === null) || (gib !== null && memory === null)) return null;
    const of = (end) => (cores[end] === null || (gib !== null && memory[end] === null)
      ? null
      : cores[end] * (core || 0) + ((memory ? memory[end] : 0) / 1024) * (gib || 0));
    return { value: of('value'), low: of('low'), high: of('high') };
  }

  return { sized, thousandsOf };
})();
