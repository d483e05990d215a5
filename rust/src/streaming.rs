//! /events, /ws: connections that last as long as their client wants (C14, C15, C24).

use crate::{parameters::number, problems::Problem, service::App, stats::Flight};
use axum::Extension;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code, rejection::WebSocketUpgradeRejection};
use axum::extract::{RawQuery, State, WebSocketUpgrade};
use axum::http::header;
use axum::response::{IntoResponse, Response, Sse, sse::Event};
use futures_util::{StreamExt, stream};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tungstenite::Error::{Capacity, Protocol, Utf8};

const LARGEST_MESSAGE: usize = 65_536;
/// A frame up to here is read before it is refused: closing on unread bytes would reset the
/// connection, and the client might never see why.
const LARGEST_FRAME: usize = 1 << 20;
/// The 128 KiB that tungstenite takes by itself would be most of an idle socket's memory.
const READ_BUFFER: usize = 4096;
const CLOSE_LIMIT: Duration = Duration::from_secs(1);

pub async fn events(
    State(app): State<Arc<App>>,
    Extension(flight): Extension<Arc<Flight>>,
    query: RawQuery,
) -> Result<impl IntoResponse, Problem> {
    let interval_ms = number(&query, "interval_ms", 10..=60_000)?;
    let mut ticks = interval(Duration::from_millis(interval_ms));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay); // no burst after a slow client
    let events = stream::unfold((ticks, 0_u64, flight), async |(mut ticks, number, flight)| {
        ticks.tick().await; // the first comes at once
        let event = Event::default().data(number.to_string());
        Some((Ok::<_, Infallible>(event), (ticks, number + 1, flight)))
    });
    let events = events.take_until(app.stopping.clone().cancelled_owned());
    Ok(([(header::CACHE_CONTROL, "no-store")], Sse::new(events)))
}

pub async fn ws(
    State(app): State<Arc<App>>,
    Extension(flight): Extension<Arc<Flight>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|rejection| match rejection {
        WebSocketUpgradeRejection::MethodNotGet(_) => Problem::MethodNotAllowed("GET"), // HEAD
        _ => Problem::UpgradeRequired,
    })?;
    let upgrade = upgrade.read_buffer_size(READ_BUFFER).max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_FRAME);
    let waited_for = app.sockets.token();
    Ok(upgrade.on_upgrade(async move |mut socket| {
        let reason = tokio::select! {
            reason = echo(&mut socket) => reason,
            () = app.stopping.cancelled() => Some(close_code::AWAY),
        };
        if let Some(code) = reason {
            let _ = timeout(CLOSE_LIMIT, close(socket, code)).await;
        }
        drop((flight, waited_for));
    }))
}

/// Until the client leaves, or with the reason to close. axum answers ping and close itself.
async fn echo(socket: &mut WebSocket) -> Option<u16> {
    loop {
        match socket.recv().await? {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => {
                socket.send(message).await.ok()?;
            }
            Ok(_) => {}
            Err(error) => {
                return match error.into_inner().downcast_ref()? {
                    Capacity(_) => Some(close_code::SIZE),
                    Utf8(_) => Some(close_code::INVALID),
                    Protocol(_) => Some(close_code::PROTOCOL),
                    _ => None, // the client has left
                };
            }
        }
    }
}

async fn close(mut socket: WebSocket, code: u16) -> Option<()> {
    let frame = CloseFrame { code, reason: "".into() };
    socket.send(Message::Close(Some(frame))).await.ok()?;
    while socket.recv().await?.is_ok() {} // until the client's answer
    None
}
