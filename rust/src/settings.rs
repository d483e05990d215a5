//! Settings, read once from the environment (C50). A wrong one is one sentence (C42).

use std::{
    env, fs,
    net::{SocketAddr, ToSocketAddrs},
    ops::RangeInclusive,
    thread,
    time::Duration,
};

use axum::http::Uri;
use mysql_async::Opts;

use crate::parameters::whole_number;

pub struct Settings {
    pub host: String,
    pub address: SocketAddr,
    pub backlog: i32,
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
        let host = text("HOST").unwrap_or_else(|| "127.0.0.1".into());
        Ok(Self {
            address: address(&host)?,
            host,
            backlog: backlog(),
            database: database()?,
            pool_size: number("DB_POOL_SIZE", 150, workers..=10_000)? as usize,
            acquire_timeout: milliseconds("DB_ACQUIRE_TIMEOUT_MS", 60_000)?,
            upstream: upstream()?,
            upstream_timeout: milliseconds("UPSTREAM_TIMEOUT_MS", 70_000)?,
            workers: workers as usize,
        })
    }
}

/// The value of a variable; an empty one counts as not set.
fn text(name: &str) -> Option<String> {
    let value = env::var_os(name)?.to_string_lossy().into_owned();
    (!value.is_empty()).then_some(value)
}

fn number(name: &str, default: u64, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    let value = text(name).unwrap_or_else(|| default.to_string());
    let (low, high) = (*bounds.start(), *bounds.end());
    whole_number(&value, bounds)
        .ok_or_else(|| format!("{name}={value:?} is not a whole number from {low} to {high}"))
}

fn milliseconds(name: &str, default: u64) -> Result<Duration, String> {
    number(name, default, 1..=3_600_000).map(Duration::from_millis)
}

fn address(host: &str) -> Result<SocketAddr, String> {
    let port = number("PORT", 8080, 1..=65_535)? as u16;
    let mut found = (host, port).to_socket_addrs().into_iter().flatten();
    found.next().ok_or_else(|| format!("HOST={host:?} is not an address to bind"))
}

/// The kernel cuts what is asked for to its own limit; `/runtime` tells what is in effect (C62).
fn backlog() -> i32 {
    let limit = fs::read_to_string("/proc/sys/net/core/somaxconn").ok();
    limit.and_then(|text| text.trim().parse().ok()).unwrap_or(4096).min(4096)
}

fn database() -> Result<Opts, String> {
    let url = text("DATABASE_URL").ok_or("DATABASE_URL=\"\" is not set")?;
    let options = Opts::from_url(&url).ok().filter(|options| {
        !url.contains(['?', '#']) // a query would change the driver's settings
            && options.user().is_some_and(|user| !user.is_empty())
            && options.tcp_port() != 0
            && options.db_name().is_some_and(|name| !name.is_empty() && !name.contains('/'))
    });
    options.ok_or_else(|| {
        let shown = without_password(&url);
        format!("DATABASE_URL={shown:?} is not mysql://user:password@host:port/database")
    })
}

fn upstream() -> Result<String, String> {
    let url = text("UPSTREAM_URL").unwrap_or_else(|| "http://127.0.0.1:9000".into());
    let authority = url.strip_prefix("http://");
    let plain = authority.is_some_and(|authority| !authority.contains(['/', '?', '#', '@']));
    match url.parse::<Uri>().ok().and_then(|uri| uri.port_u16()) {
        Some(1..) if plain => Ok(url),
        _ => {
            let shown = if url.contains('@') { without_password(&url) } else { url };
            Err(format!("UPSTREAM_URL={shown:?} is not http://host:port"))
        }
    }
}

/// Hides what may hold a password: all before the last `@`, or, without one, all after a `:`.
fn without_password(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let separator = if scheme.is_empty() { "" } else { "://" };
    let shown = match (rest.rsplit_once('@'), rest.split_once(':')) {
        (Some((_, host)), _) => format!("***@{host}"),
        (None, Some((start, _))) => format!("{start}:***"),
        (None, None) => rest.into(),
    };
    format!("{scheme}{separator}{shown}")
}
