//! /hello, /sleep, /sleep-query, /slow-query (C5–C8).

use crate::parameters::{MILLISECONDS, number};
use crate::{problems::Problem, service::App};
use axum::Json;
use axum::extract::{RawQuery, State};
use mysql_async::{Row, Value};
use serde::Serialize;
use std::{sync::Arc, time::Duration};
use tokio::time;

pub async fn hello() -> &'static str {
    "hello"
}

#[derive(Serialize)]
pub struct Slept {
    slept_ms: u64,
}

pub async fn sleep(query: RawQuery) -> Result<Json<Slept>, Problem> {
    let slept_ms = number(&query, "ms", MILLISECONDS)?;
    time::sleep(Duration::from_millis(slept_ms)).await;
    Ok(Json(Slept { slept_ms }))
}

#[derive(Serialize)]
pub struct SleptThenQueried {
    slept_ms: u64,
    now: String,
}

pub async fn sleep_query(State(app): State<Arc<App>>, query: RawQuery) -> Result<Json<SleptThenQueried>, Problem> {
    let slept_ms = number(&query, "ms", MILLISECONDS)?;
    time::sleep(Duration::from_millis(slept_ms)).await;
    let now = match app.database.execute("SELECT NOW(6)", ()).await?.row {
        Some(Value::Date(year, month, day, hour, minute, second, micros)) => {
            format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
        }
        other => return Err(Problem::InternalServerError(format!("NOW(6) gave {other:?}"))),
    };
    Ok(Json(SleptThenQueried { slept_ms, now }))
}

#[derive(Serialize)]
pub struct Queried {
    queried_ms: u64,
}

pub async fn slow_query(State(app): State<Arc<App>>, query: RawQuery) -> Result<Json<Queried>, Problem> {
    let queried_ms = number(&query, "ms", MILLISECONDS)?;
    app.database.execute::<Row>("SELECT SLEEP(?)", (queried_ms as f64 / 1000.0,)).await?;
    Ok(Json(Queried { queried_ms }))
}
