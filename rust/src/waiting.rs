//! /hello, /sleep, /sleep-query, /slow-query (C5–C8).

use crate::parameters::{MILLISECONDS, number};
use crate::problems::Problem;
use crate::service::{Answer, Answered, App};
use axum::{Json, extract::RawQuery, extract::State};
use mysql_async::{Row, Value};
use std::{sync::Arc, time::Duration};
use tokio::time;

pub async fn hello() -> &'static str {
    "hello"
}

pub async fn sleep(query: RawQuery) -> Answered {
    let slept_ms = number(&query, "ms", MILLISECONDS)?;
    time::sleep(Duration::from_millis(slept_ms)).await;
    Ok(Json(Answer::Slept { slept_ms }))
}

pub async fn sleep_query(State(app): State<Arc<App>>, query: RawQuery) -> Answered {
    let slept_ms = number(&query, "ms", MILLISECONDS)?;
    time::sleep(Duration::from_millis(slept_ms)).await;
    let now = match app.database.execute("SELECT NOW(6)", ().into()).await? {
        (Some(Value::Date(year, month, day, hour, minute, second, micros)), _) => {
            format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{micros:06}")
        }
        (other, _) => return Err(Problem::internal(format!("NOW(6) gave {other:?}"))),
    };
    Ok(Json(Answer::SleptThenQueried { slept_ms, now }))
}

pub async fn slow_query(State(app): State<Arc<App>>, query: RawQuery) -> Answered {
    let queried_ms = number(&query, "ms", MILLISECONDS)?;
    app.database.execute::<Row>("SELECT SLEEP(?)", (queried_ms as f64 / 1000.0,).into()).await?;
    Ok(Json(Answer::Queried { queried_ms }))
}
