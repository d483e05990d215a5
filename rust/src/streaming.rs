//! /events, /ws: connections that last as long as their client wants (C14, C15, C24).

use crate::{parameters::number, problems::Problem, service::App, stats::Flight};
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code, rejection::WebSocketUpgradeRejection};
use axum::extract::{Extension, RawQuery, State, WebSocketUpgrade};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response, Sse, sse::Event};
use futures_util::{StreamExt, stream};
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tungstenite::Error::{Capacity, Protocol, Utf8};

const LARGEST_MESSAGE: usize = 65_536;
/// A frame up to here is read before it is refused: closing on unread bytes would reset the connection, without a reason.
const LARGEST_FRAME: usize = 1 << 20;
const READ_BUFFER: usize = 4096; // tungstenite's own 128 KiB would be most of an idle socket's memory

pub async fn events(
    State(app): State<Arc<App>>,
    Extension(flight): Extension<Arc<Flight>>,
    query: RawQuery,
) -> Result<impl IntoResponse, Problem> {
    let mut ticks = interval(Duration::from_millis(number(&query, "interval_ms", 10..=60_000)?));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay); // no burst after a slow client
    let events = stream::unfold((ticks, 0_u64, flight), async |(mut ticks, number, flight)| {
        ticks.tick().await; // the first comes at once
        let event = Event::default().data(number.to_string());
        Some((Ok::<_, Infallible>(event), (ticks, number + 1, flight)))
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], Sse::new(events.take_until(app.stopping.clone().cancelled_owned()))))
}

pub async fn ws(
    State(app): State<Arc<App>>,
    Extension(flight): Extension<Arc<Flight>>,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else {
        let headers = [(header::CONNECTION, "upgrade"), (header::UPGRADE, "websocket")];
        return (headers, Problem(StatusCode::UPGRADE_REQUIRED, "upgrade to a WebSocket".into())).into_response();
    };
    let upgrade = upgrade.read_buffer_size(READ_BUFFER).max_message_size(LARGEST_MESSAGE).max_frame_size(LARGEST_FRAME);
    let waited_for = app.sockets.token();
    upgrade.on_upgrade(async move |mut socket| {
        let reason = tokio::select! {
            reason = echo(&mut socket) => reason,
            () = app.stopping.cancelled() => Some(close_code::AWAY),
        };
        if let Some(code) = reason {
            let _ = timeout(Duration::from_secs(1), close(socket, code)).await;
        }
        drop((flight, waited_for));
    })
}

/// Until the client leaves, or with the reason to close. axum answers ping and close itself.
async fn echo(socket: &mut WebSocket) -> Option<u16> {
    loop {
        match socket.recv().await? {
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => socket.send(message).await.ok()?,
            Ok(_) => {}
            Err(error) => match error.into_inner().downcast_ref()? {
                Capacity(_) => return Some(close_code::SIZE),
                Utf8(_) => return Some(close_code::INVALID),
                Protocol(_) => return Some(close_code::PROTOCOL),
                _ => return None, // the client has left
            },
        }
    }
}

async fn close(mut socket: WebSocket, code: u16) {
    let _ = socket.send(Message::Close(Some(CloseFrame { code, reason: "".into() }))).await;
    while let Some(Ok(_)) = socket.recv().await {} // until the client's answer
}
