//! /healthz, /readyz, /runtime, /stats: the service about itself (C1–C4).

use std::{sync::Arc, thread, time::Duration};

use axum::{Json, extract::State};
use serde::Serialize;
use tokio::{runtime::Handle, time::timeout};

use crate::{fanout::IDLE, problems::Problem, routes::App};

const READY_LIMIT: Duration = Duration::from_millis(1800); // leaves room below the 2 s of C2

#[derive(Serialize)]
pub struct Status {
    status: &'static str,
}

pub async fn healthz() -> Json<Status> {
    Json(Status { status: "ok" })
}

pub async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Status>, Problem> {
    let probe = app.database.execute("SELECT 1", ());
    timeout(READY_LIMIT, probe).await.map_err(|_| Problem::Database)??;
    Ok(Json(Status { status: "ok" }))
}

#[derive(Serialize)]
pub struct Running {
    runtime: &'static str,
    runtime_version: &'static str,
    framework: &'static str,
    framework_version: &'static str,
    server: &'static str,
    driver: &'static str,
    driver_version: &'static str,
    concurrency_model: &'static str,
    handled_by: Option<String>,
    workers: usize,
    pool_size: usize,
    cancels_on_disconnect: bool,
    settings: Effective,
}

#[derive(Serialize)]
struct Effective {
    backlog: i32,
    keep_alive_s: u64,
    max_connections: Option<u64>,
    server_threads: Option<u64>,
    db_acquire_timeout_ms: u128,
    db_statements: &'static str,
    upstream_timeout_ms: u128,
    upstream_max_connections: Option<u64>,
    upstream_idle_s: u64,
    offload: &'static str,
    heap_max_mib: Option<u64>,
    gc: Option<&'static str>,
}

pub async fn runtime(State(app): State<Arc<App>>) -> Json<Running> {
    Json(Running {
        runtime: "Rust",
        runtime_version: env!("RUST_VERSION"),
        framework: "axum",
        framework_version: env!("AXUM_VERSION"),
        server: "hyper",
        driver: "mysql_async",
        driver_version: env!("MYSQL_ASYNC_VERSION"),
        concurrency_model: "tokio tasks",
        handled_by: thread::current().name().map(Into::into),
        workers: Handle::current().metrics().num_workers(),
        pool_size: app.database.size(),
        cancels_on_disconnect: true,
        settings: Effective {
            backlog: app.settings.backlog,
            keep_alive_s: crate::KEEP_ALIVE.as_secs(),
            max_connections: None,
            server_threads: None,
            db_acquire_timeout_ms: app.settings.acquire_timeout.as_millis(),
            db_statements: "prepared",
            upstream_timeout_ms: app.settings.upstream_timeout.as_millis(),
            upstream_max_connections: None,
            upstream_idle_s: IDLE.as_secs(),
            offload: "tokio::task::spawn_blocking",
            heap_max_mib: None,
            gc: None,
        },
    })
}

#[derive(Serialize)]
pub struct Counters {
    requests_total: u64,
    busy_seconds_total: f64,
    in_flight: usize,
    pool_in_use: usize,
    pool_waiting: usize,
}

pub async fn stats(State(app): State<Arc<App>>) -> Json<Counters> {
    Json(Counters {
        requests_total: app.stats.requests_total(),
        busy_seconds_total: app.stats.busy_seconds_total(),
        in_flight: app.stats.in_flight(),
        pool_in_use: app.database.in_use(),
        pool_waiting: app.database.waiting(),
    })
}
