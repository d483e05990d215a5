//! /events, /ws: connections that last as long as their client wants (C14, C15, C24).

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{
        RawQuery, State, WebSocketUpgrade,
        ws::{
            CloseCode, CloseFrame, Message, WebSocket, close_code,
            rejection::WebSocketUpgradeRejection,
        },
    },
    http::header,
    response::{IntoResponse, Response, Sse, sse::Event},
};
use futures_util::{StreamExt, stream};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::{
    parameters::{self, INTERVAL_MS},
    problems::Problem,
    routes::{App, Flight},
};

const LARGEST_MESSAGE: usize = 65_536;
/// A message up to here is read before it is refused: closing on unread bytes would reset the
/// connection, and the client might never see why.
const LARGEST_READ: usize = 1 << 20;
/// The 128 KiB that tungstenite takes by itself would be most of an idle socket's memory.
const READ_BUFFER: usize = 4096;
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

pub async fn events(
    State(app): State<Arc<App>>,
    Extension(flight): Extension<Arc<Flight>>,
    query: RawQuery,
) -> Result<impl IntoResponse, Problem> {
    let interval_ms = parameters::number(&query, "interval_ms", INTERVAL_MS)?;
    let mut ticks = interval(Duration::from_millis(interval_ms));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay); // no burst after a slow client
    let events = stream::unfold((ticks, 0_u64, flight), async |(mut ticks, number, flight)| {
        ticks.tick().await; // the first comes at once
        let event = Event::default().data(number.to_string());
        Some((Ok::<_, Infallible>(event), (ticks, number + 1, flight)))
    });
    let mut stopping = app.stopping.subscribe();
    let events =
        events.take_until(async move { stopping.wait_for(|stopping| *stopping).await.is_ok() });
    Ok(([(header::CACHE_CONTROL, "no-store")], Sse::new(events)))
}

pub async fn ws(
    State(app): State<Arc<App>>,
    Extension(flight): Extension<Arc<Flight>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|_| Problem::NotWebSocket)?;
    let mut stopping = app.stopping.subscribe();
    let upgrade = upgrade
        .read_buffer_size(READ_BUFFER)
        .max_message_size(LARGEST_READ)
        .max_frame_size(LARGEST_READ);
    Ok(upgrade.on_upgrade(async move |mut socket| {
        let code = tokio::select! {
            code = echo(&mut socket) => code,
            _ = stopping.wait_for(|stopping| *stopping) => Some(close_code::AWAY),
        };
        if let Some(code) = code {
            let _ = timeout(CLOSE_LIMIT, close(socket, code)).await;
        }
        drop(flight);
    }))
}

/// Until the client leaves, or with the reason to close. axum answers ping and close itself.
async fn echo(socket: &mut WebSocket) -> Option<CloseCode> {
    loop {
        let message = match socket.recv().await? {
            Ok(message) => message,
            Err(error) => return reason(error),
        };
        let length = match &message {
            Message::Text(text) => text.len(),
            Message::Binary(bytes) => bytes.len(),
            _ => continue,
        };
        if length > LARGEST_MESSAGE {
            return Some(close_code::SIZE);
        }
        socket.send(message).await.ok()?;
    }
}

fn reason(error: axum::Error) -> Option<CloseCode> {
    match error.into_inner().downcast_ref()? {
        tungstenite::Error::Capacity(_) => Some(close_code::SIZE),
        tungstenite::Error::Utf8(_) => Some(close_code::INVALID),
        tungstenite::Error::Protocol(_) => Some(close_code::PROTOCOL),
        _ => None, // the client has left
    }
}

async fn close(mut socket: WebSocket, code: CloseCode) -> Option<()> {
    let frame = CloseFrame { code, reason: "".into() };
    socket.send(Message::Close(Some(frame))).await.ok()?;
    while socket.recv().await?.is_ok() {} // until the client's answer
    None
}
