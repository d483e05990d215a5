//! What all handlers share, and the service about itself: /healthz, /readyz, /runtime, /stats (C1–C4).

use crate::{database::Database, fanout, problems::Problem, settings::Settings, stats::Stats};
use axum::{Json, extract::State};
use mysql_async::Row;
use serde::Serialize;
use serde_json::{Value, json};
use std::{sync::Arc, sync::atomic::Ordering::Relaxed, thread, time::Duration};
use tokio::{runtime::Handle, time::timeout};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub struct App {
    pub settings: Settings,
    pub database: Arc<Database>,
    pub upstream: fanout::Upstream,
    pub stats: Arc<Stats>,
    pub stopping: CancellationToken, // cancelled by the signal to end (C41)
    pub sockets: TaskTracker,        // WebSockets: axum::serve does not wait for them
}

/// The bodies of the endpoints (C6–C13).
#[derive(Serialize)]
#[serde(untagged)]
pub enum Answer {
    Slept { slept_ms: u64 },
    SleptThenQueried { slept_ms: u64, now: String },
    Queried { queried_ms: u64 },
    Book { id: u64, name: String },
    Fanout { calls: u64, mode: &'static str, completed: u64 },
    Computed { rounds: u64, result: u32 },
    Blocked { blocked_ms: u64, offloaded: bool },
}

pub type Answered = Result<Json<Answer>, Problem>;

pub async fn healthz() -> Json<Value> {
    Json(json!({"status": "ok"}))
}

pub async fn readyz(State(app): State<Arc<App>>) -> Result<Json<Value>, Problem> {
    let probe = app.database.execute::<Row>("SELECT 1", ().into());
    timeout(Duration::from_millis(1500), probe).await.map_err(|_| Problem::NO_DATABASE)??; // C2 gives it 2 s in all
    Ok(healthz().await)
}

pub async fn runtime(State(app): State<Arc<App>>) -> Json<Value> {
    let settings = &app.settings;
    Json(json!({
        "runtime": "Rust", "runtime_version": env!("RUST_VERSION"),
        "framework": "axum", "framework_version": env!("AXUM_VERSION"), "server": "hyper",
        "driver": "mysql_async", "driver_version": env!("MYSQL_ASYNC_VERSION"),
        "concurrency_model": "tokio tasks", "handled_by": thread::current().name(),
        "workers": Handle::current().metrics().num_workers(), "pool_size": settings.pool_size,
        "cancels_on_disconnect": true,
        "settings": {
            "backlog": settings.backlog, "keep_alive_s": null, "max_connections": null, "server_threads": null,
            "db_acquire_timeout_ms": settings.acquire_timeout.as_millis() as u64, "db_statements": "prepared",
            "upstream_timeout_ms": settings.upstream_timeout.as_millis() as u64, "upstream_max_connections": null,
            "upstream_idle_s": fanout::IDLE.as_secs(), "offload": "tokio::task::spawn_blocking", "heap_max_mib": null, "gc": null,
        },
    }))
}

pub async fn stats(State(app): State<Arc<App>>) -> Json<Value> {
    Json(json!({
        "requests_total": app.stats.requests_total.load(Relaxed),
        "busy_seconds_total": app.stats.busy_ns_total.load(Relaxed) as f64 / 1e9,
        "in_flight": app.stats.in_flight.load(Relaxed),
        "pool_in_use": app.database.pool.metrics().connections_in_use.load(Relaxed),
        "pool_waiting": app.database.waiting(),
    }))
}
