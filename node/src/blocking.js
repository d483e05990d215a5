// The plain blocking sleep; by itself (default) it is the task of Piscina's threads.
const nothing = new Int32Array(new SharedArrayBuffer(4));

export default function block(ms) {
  Atomics.wait(nothing, 0, 0, ms);
}
