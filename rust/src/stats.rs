//! The counters behind `/stats` (C4).

use std::{
    sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed},
    time::Instant,
};

#[derive(Default)]
pub struct Stats {
    requests: AtomicU64,
    busy_ns: AtomicU64,
    in_flight: AtomicUsize,
}

impl Stats {
    /// Returns what [`Stats::end`] wants.
    pub fn begin(&self) -> Instant {
        self.in_flight.fetch_add(1, Relaxed);
        Instant::now()
    }

    pub fn end(&self, since: Instant) {
        self.requests.fetch_add(1, Relaxed);
        self.busy_ns.fetch_add(since.elapsed().as_nanos() as u64, Relaxed);
        self.in_flight.fetch_sub(1, Relaxed);
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Relaxed)
    }

    pub fn requests_total(&self) -> u64 {
        self.requests.load(Relaxed)
    }

    pub fn busy_seconds_total(&self) -> f64 {
        self.busy_ns.load(Relaxed) as f64 / 1e9
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
