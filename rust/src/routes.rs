//! Routing: paths, methods, and the layers around all handlers.

use crate::parameters::MAX_BODY;
use crate::problems::{Problem, not_allowed};
use crate::service::App;
use crate::{books, compute, fanout, service, stats, streaming, waiting};
use axum::{Router, extract::DefaultBodyLimit, middleware::from_fn_with_state};
use axum::{handler::Handler, response::IntoResponse, routing, routing::MethodRouter};
use std::sync::Arc;
use tower_http::catch_panic::CatchPanicLayer;

pub fn app(app: Arc<App>) -> Router {
    let body_limit = DefaultBodyLimit::max(MAX_BODY);
    let counted = Router::new()
        .route("/hello", get(waiting::hello))
        .route("/sleep", get(waiting::sleep))
        .route("/sleep-query", get(waiting::sleep_query))
        .route("/slow-query", get(waiting::slow_query))
        .route("/books/{id}", get(books::get_book))
        .route("/books", routing::post(books::new_book).layer(body_limit).fallback(not_allowed("POST")))
        .route("/fanout", get(fanout::fanout))
        .route("/compute", get(compute::compute))
        .route("/block", get(compute::block))
        .route("/events", get(streaming::events))
        .route("/ws", routing::get(streaming::ws).head(not_allowed("GET")).fallback(not_allowed("GET")))
        .fallback(Problem::NOT_FOUND)
        .layer(from_fn_with_state(app.stats.clone(), stats::count));
    Router::new()
        .route("/healthz", get(service::healthz))
        .route("/readyz", get(service::readyz))
        .route("/runtime", get(service::runtime))
        .route("/stats", get(service::stats))
        .merge(counted)
        .layer(CatchPanicLayer::custom(|_| Problem::internal("a handler panicked").into_response()))
        .with_state(app)
}

fn get<H: Handler<T, Arc<App>>, T: 'static>(handler: H) -> MethodRouter<Arc<App>> {
    routing::get(handler).fallback(not_allowed("GET, HEAD"))
}
