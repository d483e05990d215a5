// C60, C61: the pool, its statements, and the limit on waiting for a connection.
import { setTimeout as delay } from 'node:timers/promises';
import createError from 'http-errors';
import mysql from 'mysql2';

const databaseAway = () => createError(503, 'the database did not answer'); // C38

export class Database {
  inUse = 0;
  waiting = 0;
  #size;
  #acquireTimeoutMs;
  #pool;

  constructor({ databaseUrl, dbAcquireTimeoutMs }, size) {
    this.#size = size;
    this.#acquireTimeoutMs = dbAcquireTimeoutMs;
    this.#pool = mysql.createPool({
      uri: databaseUrl,
      charset: 'utf8mb4',
      connectionLimit: size, // of idle ones too: mysql2 ends none
      dateStrings: true,
      maxPreparedStatements: 100, // mysql2 makes room for 16,000 on each connection, which the collector has to look after
      trace: false, // no stack kept for each statement
    });
    // Whoever uses a connection gets its error; mysql2 itself hears of the first alone, and the next would end the process.
    this.#pool.on('connection', (connection) => connection.on('error', () => {}));
  }

  /** C43: until the database answers. mysql2 opens one only where none is free, so all are borrowed at once. */
  async open() {
    const pool = this.#pool.promise();
    const borrow = async () => (await pool.getConnection()).release();
    for (;;) {
      const borrowed = await Promise.allSettled(Array.from({ length: this.#size }, borrow));
      if (borrowed.every(({ status }) => status === 'fulfilled')) return;
      await delay(1_000);
    }
  }

  close() {
    return new Promise((resolve) => this.#pool.end(resolve));
  }

  /**
   * One statement, prepared at its first use on a connection and kept there by mysql2. The signal ends waiting for a
   * connection and for the answer; a statement once sent runs to its end (C40).
   */
  query(sql, values, signal) {
    return new Promise((resolve, reject) => {
      let queued = true;
      const leaveQueue = () => {
        queued = false;
        this.waiting -= 1;
        clearTimeout(limit);
      };
      const giveUp = () => {
        if (queued) leaveQueue();
        reject(databaseAway());
      };
      const limit = setTimeout(giveUp, this.#acquireTimeoutMs); // mysql2 has none
      signal.addEventListener('abort', giveUp);
      this.waiting += 1;
      this.#pool.getConnection((error, connection) => {
        if (!queued) return connection?.release(); // who gave up still has a place in mysql2's queue
        leaveQueue();
        if (error) return reject(databaseAway());
        this.inUse += 1;
        return connection.execute(sql, values, (failure, result) => {
          this.inUse -= 1;
          connection.release();
          if (!failure) resolve(result);
          else reject(failure.fatal ? databaseAway() : failure);
        });
      });
    });
  }
}
