//! /compute and /block (C12, C13): what holds up a worker.

use std::{thread, time::Duration};

use axum::{Json, extract::RawQuery};
use serde::Serialize;
use tokio::task;

use crate::{parameters, problems::Problem};

#[derive(Serialize)]
pub struct Computed {
    rounds: u64,
    result: u32,
}

pub async fn compute(query: RawQuery) -> Result<Json<Computed>, Problem> {
    let rounds = parameters::number(&query, "rounds", 1..=10_000_000)?;
    let mut x: u32 = 2_463_534_242;
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
    }
    Ok(Json(Computed { rounds, result: x }))
}

#[derive(Serialize)]
pub struct Blocked {
    blocked_ms: u64,
    offloaded: bool,
}

pub async fn block(query: RawQuery) -> Result<Json<Blocked>, Problem> {
    let blocked_ms = parameters::number(&query, "ms", 0..=1000)?;
    let offloaded = parameters::is_second(&query, "offload", ["false", "true"])?;
    let time = Duration::from_millis(blocked_ms);
    if offloaded {
        let slept = task::spawn_blocking(move || thread::sleep(time)).await;
        slept.map_err(|error| Problem::Internal(error.to_string()))?;
    } else {
        thread::sleep(time); // on purpose: the mistake whose price is measured
    }
    Ok(Json(Blocked { blocked_ms, offloaded }))
}
