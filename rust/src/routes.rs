//! Routing: paths, methods, bodies, and the one step around every handler.

use std::{
    convert::Infallible,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, HttpBody},
    handler::Handler,
    http::{HeaderMap, Request, header},
    response::{IntoResponse, Response},
    routing::{self, MethodRouter},
};
use futures_util::FutureExt;
use http_body_util::BodyExt;
use hyper::{body::Incoming, service::Service};
use hyper_util::service::TowerToHyperService;
use tokio::{
    sync::watch,
    time::{sleep_until, timeout},
};

use crate::{
    books, compute, database::Database, fanout, fanout::Upstream, problems::Problem, service,
    settings::Settings, stats::Stats, streaming, waiting,
};

const MAX_BODY: usize = 65_536; // C34
const BODY_LIMIT: Duration = Duration::from_secs(20); // C27
const MAX_DRAIN: usize = 1 << 20;
const DRAIN_TIME: Duration = Duration::from_secs(1);

pub struct App {
    pub settings: Settings,
    pub database: Database,
    pub upstream: Upstream,
    pub stats: Stats,
    /// True from the signal on; whoever subscribes is waited for (C41).
    pub stopping: watch::Sender<bool>,
}

pub fn app(app: Arc<App>) -> Router {
    Router::new()
        .route("/healthz", get(service::healthz))
        .route("/readyz", get(service::readyz))
        .route("/runtime", get(service::runtime))
        .route("/stats", get(service::stats))
        .route("/hello", get(waiting::hello))
        .route("/sleep", get(waiting::sleep))
        .route("/sleep-query", get(waiting::sleep_query))
        .route("/slow-query", get(waiting::slow_query))
        .route("/books/{id}", get(books::read))
        .route("/books", post(books::create))
        .route("/fanout", get(fanout::fanout))
        .route("/compute", get(compute::compute))
        .route("/block", get(compute::block))
        .route("/events", get(streaming::events))
        .route("/ws", get_alone(streaming::ws))
        .fallback(async || Problem::NotFound)
        .with_state(app)
}

// axum's own 405 has no body, and its Allow no blank (C21).
fn get<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> MethodRouter<Arc<App>> {
    routing::get(handler).fallback(async || Problem::MethodNotAllowed("GET, HEAD"))
}

/// What a HEAD cannot ask for.
fn get_alone<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> MethodRouter<Arc<App>> {
    let refuse = async || Problem::MethodNotAllowed("GET");
    routing::get(handler).head(refuse).fallback(refuse)
}

fn post<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> MethodRouter<Arc<App>> {
    routing::post(handler).fallback(async || Problem::MethodNotAllowed("POST"))
}

/// One connection of a client: the single step around every handler, and what its idle limit
/// needs. A middleware of the router would box each request once more.
pub struct Connection {
    app: Arc<App>,
    router: TowerToHyperService<Router>,
    idle_since: Mutex<Option<Instant>>, // none while a request is in flight
}

impl Connection {
    pub fn new(app: Arc<App>, router: Router) -> Self {
        let router = TowerToHyperService::new(router);
        Self { app, router, idle_since: Mutex::new(Some(Instant::now())) }
    }

    /// Counts a request (C4) and turns a panic into a 500 (C39). hyper drops this future when
    /// the client leaves, so the request leaves `in_flight` with it (C40). Streams and sockets
    /// outlive it: their handlers keep the flight.
    pub async fn answer(
        self: Arc<Self>,
        mut request: Request<Incoming>,
    ) -> Result<Response, Infallible> {
        let path = request.uri().path();
        let outlives = matches!(path, "/events" | "/ws");
        let flight = Flight::begin(self.clone(), path);
        let _ended_with_this = if outlives {
            request.extensions_mut().insert(Arc::new(flight));
            None
        } else {
            Some(flight)
        };
        let answer = AssertUnwindSafe(self.router.call(request)).catch_unwind().await;
        answer
            .unwrap_or_else(|_| Ok(Problem::Internal("a handler panicked".into()).into_response()))
    }

    /// Ends when no request was in flight for the length of `limit` (C62). hyper's own limit,
    /// `header_read_timeout`, sets a timer at each request; this one sleeps once per `limit`.
    pub async fn idle_for(&self, limit: Duration) {
        let mut deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            sleep_until(deadline.into()).await;
            let since = *self.idle_since.lock().expect("never held across a panic");
            deadline = since.unwrap_or_else(Instant::now) + limit;
        }
    }

    fn set_idle_since(&self, since: Option<Instant>) {
        *self.idle_since.lock().expect("never held across a panic") = since;
    }
}

/// A request that has begun and not ended: counted as such (C4), and its connection is not idle.
pub struct Flight {
    connection: Arc<Connection>,
    counted_since: Option<Instant>,
}

impl Flight {
    fn begin(connection: Arc<Connection>, path: &str) -> Self {
        let counted = !matches!(path, "/healthz" | "/readyz" | "/runtime" | "/stats");
        let counted_since = counted.then(|| connection.app.stats.begin());
        connection.set_idle_since(None);
        Self { connection, counted_since }
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        self.connection.set_idle_since(Some(Instant::now()));
        if let Some(since) = self.counted_since {
            self.connection.app.stats.end(since);
        }
    }
}

/// The bytes of a JSON body; checks in the order C33, C34.
pub async fn json_body(headers: &HeaderMap, body: Body) -> Result<Vec<u8>, Problem> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
    if !essence.trim().eq_ignore_ascii_case("application/json") {
        return Err(Problem::NotJson);
    }
    if body.size_hint().lower() > MAX_BODY as u64 {
        if !headers.contains_key(header::EXPECT) {
            tokio::spawn(timeout(DRAIN_TIME, drain(body))); // it is on its way already
        }
        return Err(Problem::TooLarge);
    }
    timeout(BODY_LIMIT, whole(body))
        .await
        .unwrap_or(Err(Problem::BadRequest(books::NOT_JSON.into())))
}

async fn whole(mut body: Body) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Err(Problem::BadRequest(books::NOT_JSON.into())) };
        bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
        if bytes.len() > MAX_BODY {
            // Closing on unread bytes would reset the connection, and the answer might be lost.
            let _ = timeout(DRAIN_TIME, drain(body)).await;
            return Err(Problem::TooLarge);
        }
    }
    Ok(bytes)
}

async fn drain(mut body: Body) {
    let mut seen = 0;
    while let Some(Ok(frame)) = body.frame().await
        && seen < MAX_DRAIN
    {
        seen += frame.data_ref().map_or(0, |data| data.len());
    }
}
