// One of several k6 that share a load (see bench/src/nsb/measure/generators.py, which starts them): load.js, begun at a moment that is the same for all of
// them, and a summary that can be merged with the others'.
//
// How latencies are told is decided here. k6's percentiles cannot be merged, and its trends tell nothing else. A counter for each bucket, as a metric or by
// a tag, is one more sample for each request and a list that each of them is looked up in; raw output costs half of a request's CPU and more. But a trend
// keeps every value until the end. So the summary is asked for percentiles in small steps (K6_SUMMARY_TREND_STATS, records/parts.py): the edges of buckets
// that each hold the same share of the answers. They cost nothing while the load runs, and bound the error by the rank: 0.1 %, and 0.01 % from p98 on.
// On one machine a generator alone has its own percentiles, which are exact, and does not come here.
import load, { handleSummary as tell, options as all } from './load.js';
import { sleep } from 'k6';

const told = /^nsb_(\w+{window:in}|latency{phase:h[12]})$/; // trends that are read: records/summary.py

export const options = all;
export default load;

// k6 calls it when all users are there and none of them has begun.
export function setup() {
  const { begin_ms: begin } = JSON.parse(__ENV.NSB_CELL);
  sleep(Math.max(0, begin - Date.now()) / 1000);
  return { began_ms: Date.now() };
}

export function handleSummary(data) {
  const steps = data.options.summaryTrendStats.filter((stat) => stat.startsWith('p('));
  const metrics = {};
  for (const [name, metric] of Object.entries(data.metrics)) {
    const { count, avg, min, max } = metric.values;
    if (metric.type !== 'trend') metrics[name] = metric;
    else if (told.test(name)) metrics[name] = { values: { count, avg, min, max, edges: steps.map((step) => Math.round(metric.values[step] * 1e4) / 1e4) } };
  }
  return tell({ metrics, state: { began_ms: data.setup_data.began_ms } });
}
