// C60, C61: the pool, its statements, and the limit on waiting for a connection.
import { setTimeout as delay } from 'node:timers/promises';
import mysql from 'mysql2';
import { databaseAway } from './problems.js';

const REFILL_PAUSE_MS = 1_000;
const CLOSE_LIMIT_MS = 500;
// Said by a server that goes away while it still speaks: ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED (MariaDB).
const GOING_AWAY = new Set([1053, 1927]);

export class Database {
  inUse = 0;
  waiting = 0;
  #size;
  #acquireTimeoutMs;
  #pool;
  #open = 0;
  #refilling = false;
  #closed = false;

  constructor({ databaseUrl, dbAcquireTimeoutMs }, size) {
    this.#size = size;
    this.#acquireTimeoutMs = dbAcquireTimeoutMs;
    this.#pool = mysql.createPool({
      ...databaseUrl,
      charset: 'utf8mb4',
      connectionLimit: size,
      maxIdle: size, // as many as there may be: mysql2 then ends no idle one
      dateStrings: true,
      trace: false, // no stack kept for each statement
    });
    this.#pool.on('connection', (connection) => {
      this.#open += 1;
      const gone = once(() => {
        this.#open -= 1;
        this.#refill();
      });
      connection.on('end', gone).on('error', gone);
    });
  }

  /** C43: in the background, and without end where the database is away. */
  open() {
    this.#refill();
  }

  /**
   * One statement, prepared at its first use on a connection and kept there by mysql2. The signal ends waiting for
   * a connection; a statement once sent runs to its end (C40).
   */
  async query(sql, values, signal) {
    signal.throwIfAborted();
    const connection = await this.#acquire(signal);
    this.inUse += 1;
    try {
      return await execute(connection, sql, values);
    } finally {
      this.inUse -= 1;
      connection.release();
    }
  }

  close() {
    this.#closed = true;
    // mysql2 never calls back where a connection was still being opened.
    const ended = new Promise((resolve) => this.#pool.end(resolve));
    return Promise.race([ended, delay(CLOSE_LIMIT_MS)]);
  }

  /** mysql2 has no limit of its own (C38). Who gave up keeps its place in mysql2's queue and passes the connection on. */
  #acquire(signal) {
    return new Promise((resolve, reject) => {
      let gaveUp = false;
      this.waiting += 1;
      const settled = () => {
        this.waiting -= 1;
        clearTimeout(timer);
        signal.removeEventListener('abort', leave);
      };
      const giveUp = (reason) => {
        gaveUp = true;
        settled();
        reject(reason);
      };
      const leave = () => giveUp(signal.reason);
      const timer = setTimeout(() => giveUp(databaseAway()), this.#acquireTimeoutMs);
      signal.addEventListener('abort', leave);
      this.#pool.getConnection((error, connection) => {
        if (gaveUp) return connection?.release();
        settled();
        return error ? reject(databaseAway(error)) : resolve(connection);
      });
    });
  }

  /**
   * mysql2 opens a connection only where none is free. So all that are not lent are borrowed within one tick and
   * given back as they come: the free ones at once, the missing ones when they are open.
   */
  async #refill() {
    if (this.#refilling) return;
    this.#refilling = true;
    while (!this.#closed && this.#open < this.#size) {
      const toBorrow = Math.max(0, this.#size - this.inUse - this.waiting);
      await Promise.all(Array.from({ length: toBorrow }, () => this.#borrowAndReturn()));
      await delay(REFILL_PAUSE_MS);
    }
    this.#refilling = false;
  }

  /** Whether it succeeds shows in the number of open ones. */
  #borrowAndReturn() {
    return new Promise((resolve) => {
      this.#pool.getConnection((error, connection) => {
        connection?.release();
        resolve();
      });
    });
  }
}

function execute(connection, sql, values) {
  return new Promise((resolve, reject) => {
    connection.execute(sql, values, (error, result) => {
      if (!error) resolve(result);
      else reject(error.fatal || GOING_AWAY.has(error.errno) ? databaseAway(error) : error);
    });
  });
}

function once(action) {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}
