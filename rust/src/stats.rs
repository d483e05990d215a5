//! The counters behind `/stats`, and the middleware that counts (C4).

use axum::{extract::Request, extract::State, middleware::Next, response::Response};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{sync::Arc, time::Instant};

#[derive(Default)]
pub struct Stats {
    pub requests_total: AtomicU64,
    pub busy_ns_total: AtomicU64,
    pub in_flight: AtomicU64,
}

/// A request that has begun and not ended.
pub struct Flight {
    stats: Arc<Stats>,
    since: Instant,
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.stats.requests_total.fetch_add(1, Relaxed);
        self.stats.busy_ns_total.fetch_add(self.since.elapsed().as_nanos() as u64, Relaxed);
        self.stats.in_flight.fetch_sub(1, Relaxed);
    }
}

/// hyper drops this when the client leaves, and the flight with it (C40). Streams keep theirs until they end.
pub async fn count(State(stats): State<Arc<Stats>>, mut request: Request, next: Next) -> Response {
    stats.in_flight.fetch_add(1, Relaxed);
    let flight = Arc::new(Flight { stats, since: Instant::now() });
    request.extensions_mut().insert(flight.clone());
    next.run(request).await
}
