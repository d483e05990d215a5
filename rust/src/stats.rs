//! The counters behind `/stats` (C4).

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

#[derive(Default)]
pub struct Stats {
    requests: AtomicU64,
    busy_ns: AtomicU64,
    pub in_flight: Gauge,
}

impl Stats {
    /// Begins a request; it ends when the guard is dropped.
    pub fn begin(&self) -> impl Drop {
        Request { stats: self, since: Instant::now(), _flight: self.in_flight.enter() }
    }

    pub fn requests_total(&self) -> u64 {
        self.requests.load(Relaxed)
    }

    pub fn busy_seconds_total(&self) -> f64 {
        self.busy_ns.load(Relaxed) as f64 / 1e9
    }
}

struct Request<'a> {
    stats: &'a Stats,
    since: Instant,
    _flight: Entered<'a>,
}

impl Drop for Request<'_> {
    fn drop(&mut self) {
        self.stats.requests.fetch_add(1, Relaxed);
        self.stats.busy_ns.fetch_add(self.since.elapsed().as_nanos() as u64, Relaxed);
    }
}

/// How many are inside, right now.
#[derive(Default)]
pub struct Gauge(AtomicUsize);

impl Gauge {
    pub fn enter(&self) -> Entered<'_> {
        self.0.fetch_add(1, Relaxed);
        Entered(self)
    }

    pub fn now(&self) -> usize {
        self.0.load(Relaxed)
    }
}

pub struct Entered<'a>(&'a Gauge);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}
