//! /compute and /block (C12, C13): what holds up a worker.

use crate::parameters::{number, one_of};
use crate::problems::Problem;
use crate::service::{Answer, Answered};
use axum::{Json, extract::RawQuery};
use std::{thread, time::Duration};
use tokio::task::spawn_blocking;

pub async fn compute(query: RawQuery) -> Answered {
    let rounds = number(&query, "rounds", 1..=10_000_000)?;
    let mut x: u32 = 2_463_534_242;
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    Ok(Json(Answer::Computed { rounds, result: x }))
}

pub async fn block(query: RawQuery) -> Answered {
    let blocked_ms = number(&query, "ms", 0..=1000)?;
    let offloaded = one_of(&query, "offload", ["false", "true"])? == "true";
    let time = Duration::from_millis(blocked_ms);
    if offloaded {
        spawn_blocking(move || thread::sleep(time)).await.map_err(Problem::internal)?;
    } else {
        thread::sleep(time); // on purpose: the mistake whose price is measured
    }
    Ok(Json(Answer::Blocked { blocked_ms, offloaded }))
}
