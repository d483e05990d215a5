//! The database: the pool, its acquire limit, and the one way a statement runs (C60, C61).

use crate::{problems::Problem, settings::Settings};
use futures_util::{StreamExt, TryStreamExt, stream};
use mysql_async::prelude::{FromRow, Queryable};
use mysql_async::{Conn, OptsBuilder, Params, Pool, PoolConstraints, PoolOpts};
use std::{sync::Arc, time::Duration};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

pub struct Database {
    pub pool: Pool,
    acquire_timeout: Duration,
    // The right to a connection. The driver's pool has a queue too, but it loses a wake-up when a waiter is dropped.
    permits: Arc<Semaphore>,
    waiting: Arc<()>, // who waits has a clone
}

/// What a statement gave: its first row, and the id of what it inserted.
pub type Outcome<T> = Result<(Option<T>, Option<u64>), Problem>;

impl Database {
    /// Starts to open the connections; does not wait for them (C43).
    pub fn open(settings: &Settings) -> Arc<Self> {
        let size = settings.pool_size;
        let constraints = PoolConstraints::new(size, size).expect("the size is at least 1");
        let options = OptsBuilder::from_opts(settings.database.clone())
            .prefer_socket(false) // TCP as everybody else, also where the database is near
            .pool_opts(PoolOpts::new().with_constraints(constraints).with_reset_connection(false));
        let (permits, acquire_timeout) = (Arc::new(Semaphore::new(size)), settings.acquire_timeout);
        let database = Arc::new(Self { pool: Pool::new(options), acquire_timeout, permits, waiting: Arc::default() });
        tokio::spawn(database.clone().fill());
        database
    }

    /// Borrows all that are free, so that the pool opens them once the database answers. Lost ones it replaces when asked.
    async fn fill(self: Arc<Self>) {
        loop {
            let free = self.permits.available_permits();
            let Ok(permits) = self.permits.try_acquire_many(free as u32) else { return };
            let borrow = stream::iter(0..free).map(|_| self.pool.get_conn()).buffer_unordered(16);
            let Err(error) = borrow.try_collect::<Vec<Conn>>().await else { return };
            drop(permits);
            eprintln!("the database is away: {error}");
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Runs one prepared statement, in a task of its own: when the client leaves, waiting for a connection stops,
    /// but a statement already sent runs to its end (C40).
    pub async fn execute<T: FromRow + Send + 'static>(&self, statement: &'static str, values: Params) -> Outcome<T> {
        let lent = self.acquire().await?;
        let task = tokio::spawn(async move {
            let (_permit, mut connection) = lent; // the connection goes back first: the next permit hardly waits for it
            let row = connection.exec_first(statement, values).await?;
            Ok::<_, Problem>((row, connection.last_insert_id()))
        });
        task.await.map_err(Problem::internal)?
    }

    async fn acquire(&self) -> Result<(OwnedSemaphorePermit, Conn), Problem> {
        let _waiting = self.waiting.clone();
        let acquired = timeout(self.acquire_timeout, async {
            let permit = self.permits.clone().acquire_owned().await.ok()?;
            Some((permit, self.pool.get_conn().await.ok()?))
        });
        acquired.await.ok().flatten().ok_or(Problem::NO_DATABASE)
    }

    pub fn waiting(&self) -> usize {
        Arc::strong_count(&self.waiting) - 1
    }
}
