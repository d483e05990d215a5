//! The database: the pool, its acquire limit, and the one way a statement runs (C60, C61).

use std::{ops::Deref, sync::Arc, sync::atomic::Ordering::Relaxed, time::Duration};

use futures_util::{StreamExt, TryStreamExt, stream};
use mysql_async::{
    Conn, DriverError, Error, OptsBuilder, Params, Pool, PoolConstraints, PoolOpts, Row,
    prelude::{FromRow, Queryable},
};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};

use crate::{problems::Problem, settings::Settings, stats::Gauge};

const REFILL: Duration = Duration::from_secs(1);
const REFILL_LIMIT: Duration = Duration::from_secs(10); // a database that does not even refuse
const OPENED_AT_ONCE: usize = 16;

#[derive(Clone)]
pub struct Database(Arc<Inner>);

pub struct Inner {
    pool: Pool,
    size: usize,
    acquire_timeout: Duration,
    // The right to a connection. The driver's pool has a queue too, but no limit of time, and
    // it loses a wake-up when a waiter is dropped; behind these permits nobody queues there.
    permits: Arc<Semaphore>,
    in_use: Gauge,
    waiting: Gauge,
}

impl Deref for Database {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// What a statement gave: its first row, and the id of what it inserted.
pub struct Outcome {
    row: Option<Row>,
    pub id: Option<u64>,
}

impl Outcome {
    pub fn row<T: FromRow>(self) -> Result<Option<T>, Problem> {
        let row = self.row.map(mysql_async::from_row_opt).transpose();
        row.map_err(|error| Problem::Internal(error.to_string()))
    }
}

impl Database {
    /// Starts to open the connections; does not wait for them (C43).
    pub fn open(settings: &Settings) -> Self {
        let size = settings.pool_size;
        let constraints = PoolConstraints::new(size, size).expect("the size is at least 1");
        let pool = PoolOpts::new().with_constraints(constraints).with_reset_connection(false);
        let options = OptsBuilder::from_opts(settings.database.clone())
            .prefer_socket(false) // TCP as everybody else, also where the database is near
            .pool_opts(pool);
        let database = Self(Arc::new(Inner {
            pool: Pool::new(options),
            size,
            acquire_timeout: settings.acquire_timeout,
            permits: Arc::new(Semaphore::new(size)),
            in_use: Gauge::default(),
            waiting: Gauge::default(),
        }));
        tokio::spawn(database.clone().keep_full());
        database
    }

    /// Runs one prepared statement, in a task of its own: when the client leaves, waiting for a
    /// connection stops, but a statement already sent runs to its end (C40).
    pub async fn execute(
        &self,
        statement: &'static str,
        parameters: impl Into<Params>,
    ) -> Result<Outcome, Problem> {
        let parameters = parameters.into();
        let (permit, mut connection) = self.acquire().await?;
        let database = self.clone();
        let task = tokio::spawn(async move {
            let _in_use = database.in_use.enter();
            let row = connection.exec_first(statement, parameters).await;
            let outcome = row.map(|row| Outcome { row, id: connection.last_insert_id() });
            drop(connection); // back in the pool before the next one may ask for it
            drop(permit);
            outcome
        });
        let outcome = task.await.map_err(|error| Problem::Internal(error.to_string()))?;
        outcome.map_err(problem)
    }

    async fn acquire(&self) -> Result<(OwnedSemaphorePermit, Conn), Problem> {
        let _waiting = self.waiting.enter();
        let acquired = timeout(self.acquire_timeout, async {
            let permit = self.permits.clone().acquire_owned().await.ok()?;
            let connection = self.pool.get_conn().await.ok()?;
            Some((permit, connection))
        });
        acquired.await.ok().flatten().ok_or(Problem::Database)
    }

    /// Opens all connections at the start, and again when the database was away (C43, C60).
    async fn keep_full(self) {
        let mut away = false;
        loop {
            if self.pool.metrics().connection_count.load(Relaxed) < self.size {
                let filled = timeout(REFILL_LIMIT, self.fill()).await;
                let error = match filled {
                    Ok(Ok(())) => None,
                    Ok(Err(error)) => Some(error.to_string()),
                    Err(_) => Some("no answer".into()),
                };
                match (&error, away) {
                    (Some(error), false) => eprintln!("the database is away: {error}"),
                    (None, true) => eprintln!("the database is back"),
                    _ => {}
                }
                away = error.is_some();
            }
            sleep(REFILL).await;
        }
    }

    /// Borrows all that are free at once, so that the pool has to open those it lacks.
    async fn fill(&self) -> Result<(), Error> {
        let free = self.permits.available_permits();
        let Ok(_permits) = self.permits.try_acquire_many(free as u32) else { return Ok(()) };
        let borrow = stream::iter(0..free).map(|_| self.pool.get_conn());
        let _all: Vec<Conn> = borrow.buffer_unordered(OPENED_AT_ONCE).try_collect().await?;
        Ok(())
    }

    pub async fn close(&self) {
        self.permits.close();
        let _ = self.pool.clone().disconnect().await; // the process ends anyhow
    }
}

impl Inner {
    pub fn size(&self) -> usize {
        self.size
    }

    pub fn in_use(&self) -> usize {
        self.in_use.now()
    }

    pub fn waiting(&self) -> usize {
        self.waiting.now()
    }
}

/// A server that goes away breaks the connection, or says so first (C38); all else is our fault.
fn problem(error: Error) -> Problem {
    const SHUTDOWN: u16 = 1053;
    const INTERRUPTED: u16 = 1317;
    const KILLED: u16 = 1927;
    match error {
        Error::Io(_) | Error::Driver(DriverError::ConnectionClosed) => Problem::Database,
        Error::Server(error) if [SHUTDOWN, INTERRUPTED, KILLED].contains(&error.code) => {
            Problem::Database
        }
        error => Problem::Internal(error.to_string()),
    }
}
