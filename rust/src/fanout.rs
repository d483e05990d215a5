//! /fanout (C11): calls the upstream, many times in one request.

use std::{sync::Arc, time::Duration};

use axum::{
    Json,
    extract::{RawQuery, State},
    http::{StatusCode, Uri},
};
use futures_util::future::try_join_all;
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    parameters::{self, MILLISECONDS},
    problems::Problem,
    routes::App,
    settings::Settings,
};

pub const IDLE: Duration = Duration::from_secs(86_400); // C63: longer than any run

pub struct Upstream {
    client: Client<HttpConnector, Empty<Bytes>>,
    base: String,
    timeout: Duration,
}

impl Upstream {
    /// One client for all workers, without a limit of connections, and without a retry (C63).
    pub fn new(settings: &Settings) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(usize::MAX)
            .retry_canceled_requests(false)
            .build(connector);
        Self { client, base: settings.upstream.clone(), timeout: settings.upstream_timeout }
    }

    fn delay(&self, ms: u64) -> Result<Uri, Problem> {
        let uri = format!("{}/delay?ms={ms}", self.base).parse();
        uri.map_err(|error| Problem::Internal(format!("{error}")))
    }

    /// One call; only a 200 that came in time, whole, counts.
    async fn call(&self, uri: Uri) -> Result<(), Problem> {
        let answer = async {
            let response = self.client.get(uri).await.map_err(|_| Problem::Upstream)?;
            let status = response.status();
            // Read to its end, else the connection could not be used again.
            response.into_body().collect().await.map_err(|_| Problem::Upstream)?;
            if status == StatusCode::OK { Ok(()) } else { Err(Problem::Upstream) }
        };
        timeout(self.timeout, answer).await.map_err(|_| Problem::Upstream)?
    }
}

#[derive(Serialize)]
pub struct Fanout {
    calls: u64,
    mode: &'static str,
    completed: u64,
}

pub async fn fanout(State(app): State<Arc<App>>, query: RawQuery) -> Result<Json<Fanout>, Problem> {
    let calls = parameters::number(&query, "calls", 1..=1000)?;
    let ms = parameters::number(&query, "ms", MILLISECONDS)?;
    let modes = ["concurrent", "sequential"];
    let sequential = parameters::is_second(&query, "mode", modes)?;
    let uri = app.upstream.delay(ms)?;
    let completed = if sequential {
        for _ in 0..calls {
            app.upstream.call(uri.clone()).await?;
        }
        calls
    } else {
        let all = (0..calls).map(|_| app.upstream.call(uri.clone()));
        try_join_all(all).await?.len() as u64
    };
    Ok(Json(Fanout { calls, mode: modes[usize::from(sequential)], completed }))
}
