//! /compute and /block (C12, C13): what holds up a worker.

use crate::parameters::{number, one_of};
use crate::problems::Problem;
use axum::{Json, extract::RawQuery};
use serde::Serialize;
use std::{thread, time::Duration};
use tokio::task::spawn_blocking;

#[derive(Serialize)]
pub struct Computed {
    rounds: u64,
    result: u32,
}

pub async fn compute(query: RawQuery) -> Result<Json<Computed>, Problem> {
    let rounds = number(&query, "rounds", 1..=10_000_000)?;
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
    let blocked_ms = number(&query, "ms", 0..=1000)?;
    let offloaded = one_of(&query, "offload", ["false", "true"])? == "true";
    let time = Duration::from_millis(blocked_ms);
    if offloaded {
        spawn_blocking(move || thread::sleep(time)).await.map_err(Problem::internal)?;
    } else {
        thread::sleep(time); // on purpose: the mistake whose price is measured
    }
    Ok(Json(Blocked { blocked_ms, offloaded }))
}
