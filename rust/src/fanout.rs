//! /fanout (C11): calls the upstream, many times in one request.

use crate::parameters::{MILLISECONDS, number, one_of};
use crate::problems::Problem;
use crate::service::{Answer, Answered, App};
use axum::http::{StatusCode, Uri};
use axum::{Json, body::Bytes, extract::RawQuery, extract::State};
use futures_util::future::try_join_all;
use http_body_util::{BodyExt, Empty};
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;

pub const IDLE: Duration = Duration::from_secs(86_400); // C63: longer than any run
pub type Upstream = Client<HttpConnector, Empty<Bytes>>;

/// One client for all workers, without a limit of connections, and without a retry (C63).
pub fn upstream() -> Upstream {
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let mut builder = Client::builder(TokioExecutor::new());
    builder.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE).retry_canceled_requests(false);
    builder.build(connector)
}

pub async fn fanout(State(app): State<Arc<App>>, query: RawQuery) -> Answered {
    let calls = number(&query, "calls", 1..=1000)?;
    let ms = number(&query, "ms", MILLISECONDS)?;
    let mode = one_of(&query, "mode", ["concurrent", "sequential"])?;
    let uri: Uri = format!("{}/delay?ms={ms}", app.settings.upstream).parse().map_err(Problem::internal)?;
    let all = (0..calls).map(|_| delay(&app, uri.clone()));
    if mode == "concurrent" {
        try_join_all(all).await?;
    } else {
        for call in all {
            call.await?;
        }
    }
    Ok(Json(Answer::Fanout { calls, mode, completed: calls }))
}

/// One call; only a 200 that came in time, whole, counts.
async fn delay(app: &App, uri: Uri) -> Result<(), Problem> {
    let answer = async {
        let response = app.upstream.get(uri).await.ok()?;
        let status = response.status();
        response.into_body().collect().await.ok()?; // to its end, else the connection could not be used again
        (status == StatusCode::OK).then_some(())
    };
    timeout(app.settings.upstream_timeout, answer).await.ok().flatten().ok_or(Problem::NO_UPSTREAM)
}
