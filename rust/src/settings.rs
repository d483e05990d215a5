//! Settings, read once from the environment (C50). A wrong one is one sentence (C42).

use crate::parameters::whole_number;
use axum::http::Uri;
use mysql_async::Opts;
use std::{env, fs, ops::RangeInclusive, thread, time::Duration};

pub struct Settings {
    pub host: String,
    pub port: u16,
    pub backlog: u32,
    pub database: Opts,
    pub pool_size: usize,
    pub acquire_timeout: Duration,
    pub upstream: String,
    pub upstream_timeout: Duration,
    pub workers: usize,
}

impl Settings {
    pub fn from_environment() -> Result<Self, String> {
        let cpus = thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64);
        let workers = number("WORKERS", cpus.min(1024), 1..=1024)?;
        number("SERVER_THREADS", 200, 1..=100_000)?; // checked by all, used by others
        let somaxconn = fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap_or_default();
        Ok(Self {
            host: text("HOST", "127.0.0.1"),
            port: number("PORT", 8080, 1..=65_535)? as u16,
            backlog: somaxconn.trim().parse().unwrap_or(4096_u32).min(4096), // what the kernel makes of it (C62)
            database: database()?,
            pool_size: number("DB_POOL_SIZE", 150, workers..=10_000)? as usize,
            acquire_timeout: Duration::from_millis(number("DB_ACQUIRE_TIMEOUT_MS", 60_000, 1..=3_600_000)?),
            upstream: upstream()?,
            upstream_timeout: Duration::from_millis(number("UPSTREAM_TIMEOUT_MS", 70_000, 1..=3_600_000)?),
            workers: workers as usize,
        })
    }
}

/// The value of a variable; an empty one counts as not set.
fn text(name: &str, default: &str) -> String {
    let value = env::var_os(name).filter(|value| !value.is_empty());
    value.map_or_else(|| default.into(), |value| value.to_string_lossy().into_owned())
}

fn number(name: &str, default: u64, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    let (value, low, high) = (text(name, &default.to_string()), *bounds.start(), *bounds.end());
    whole_number(&value, bounds).ok_or_else(|| format!("{name}={value:?} is not a whole number from {low} to {high}"))
}

/// Its value may hold a password, so no sentence shows it.
fn database() -> Result<Opts, String> {
    let options = Opts::from_url(&text("DATABASE_URL", "")).ok();
    let whole = options.filter(|options| options.user().is_some() && options.db_name().is_some());
    whole.ok_or_else(|| "DATABASE_URL is not mysql://user:password@host:port/database".into())
}

fn upstream() -> Result<String, String> {
    let url = text("UPSTREAM_URL", "http://127.0.0.1:9000");
    let uri: Uri = url.parse().unwrap_or_default();
    let right = uri.host().zip(uri.port_u16()).is_some_and(|(host, port)| url == format!("http://{host}:{port}"));
    if right { Ok(url) } else { Err(format!("UPSTREAM_URL={url:?} is not http://host:port")) }
}
