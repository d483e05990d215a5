//! The Rust service: axum on tokio. CONTRACT.md says what it does; this file only wires.

mod books;
mod compute;
mod database;
mod fanout;
mod parameters;
mod problems;
mod routes;
mod service;
mod settings;
mod stats;
mod streaming;
mod waiting;

use crate::{database::Database, service::App, settings::Settings};
use axum::serve::ListenerExt;
use std::{io, process::ExitCode, sync::Arc, time::Duration};
use tokio::net::{TcpListener, TcpSocket, lookup_host};
use tokio::signal::{ctrl_c, unix::SignalKind, unix::signal};
use tokio::{runtime, time::sleep};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc; // rust-tuned

fn main() -> ExitCode {
    let ended = Settings::from_environment().and_then(|settings| {
        let runtime = runtime::Builder::new_multi_thread().worker_threads(settings.workers).enable_all().build();
        runtime.expect("the runtime starts").block_on(serve(settings))
    });
    let Err(sentence) = ended else { return ExitCode::SUCCESS };
    eprintln!("{sentence}");
    ExitCode::from(2) // C42
}

async fn serve(settings: Settings) -> Result<(), String> {
    let listener = listen(&settings).await;
    let listener = listener.map_err(|error| format!("HOST={:?} cannot be bound: {error}", settings.host))?;
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true)); // fails only where the client has left already
    let app = Arc::new(App {
        database: Database::open(&settings),
        upstream: fanout::upstream(),
        stats: Arc::default(),
        stopping: CancellationToken::new(),
        sockets: TaskTracker::new(),
        settings,
    });
    let routes = routes::app(app.clone()).into_make_service(); // a Router itself would be copied for each connection
    let server = axum::serve(listener, routes);
    let finish = async {
        let _ = server.with_graceful_shutdown(app.stopping.clone().cancelled_owned()).await;
        app.sockets.close();
        app.sockets.wait().await;
        let _ = app.database.pool.clone().disconnect().await; // the process ends anyhow
    };
    let mut terminate = signal(SignalKind::terminate()).expect("signals can be caught");
    let cut_off = async {
        tokio::select! { _ = terminate.recv() => {}, _ = ctrl_c() => {} }
        app.stopping.cancel();
        sleep(Duration::from_secs(8)).await; // C41
    };
    tokio::select! { () = finish => {}, () = cut_off => {} }
    Ok(())
}

async fn listen(settings: &Settings) -> io::Result<TcpListener> {
    let address = lookup_host((&*settings.host, settings.port)).await?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(settings.backlog) // TcpListener::bind would ask for 1024
}
