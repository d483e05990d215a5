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

use std::{error::Error, pin::pin, process::ExitCode, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::{
    net::TcpListener,
    runtime,
    signal::unix::{SignalKind, signal},
    sync::watch,
    time::{sleep, timeout},
};

use crate::{
    database::Database,
    fanout::Upstream,
    routes::{App, Connection},
    settings::Settings,
    stats::Stats,
};

const KEEP_ALIVE: Duration = Duration::from_secs(75); // C62
const GRACE: Duration = Duration::from_secs(8); // C41

fn main() -> ExitCode {
    let settings = match Settings::from_environment() {
        Ok(settings) => settings,
        Err(sentence) => {
            eprintln!("{sentence}");
            return ExitCode::from(2); // C42
        }
    };
    let listener = match listen(&settings) {
        Ok(listener) => listener,
        Err(error) => {
            let (host, port) = (&settings.host, settings.address.port());
            eprintln!("HOST={host:?} and PORT=\"{port}\" cannot be bound: {error}");
            return ExitCode::from(2);
        }
    };
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(settings.workers)
        .enable_all()
        .build()
        .expect("the runtime starts");
    // Spawned, so that accepting is a worker's task too and not that of an extra thread (C64).
    let ended = runtime.block_on(runtime.spawn(serve(settings, listener)));
    runtime.shutdown_background(); // what is still asleep does not hold up the end
    match ended.expect("the server does not panic") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(settings: Settings, listener: Socket) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let listener = TcpListener::from_std(listener.into())?;
    let database = Database::open(&settings);
    let app = Arc::new(App {
        stats: Stats::default(),
        upstream: Upstream::new(&settings),
        database: database.clone(),
        stopping: watch::Sender::new(false),
        settings,
    });
    let router = routes::app(app.clone());
    let server = http1::Builder::new();

    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, mostly: others must end first.
                eprintln!("accept: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true); // fails only where the client has left already
        let client = Arc::new(Connection::new(app.clone(), router.clone()));
        let service = {
            let client = client.clone();
            service_fn(move |request| client.clone().answer(request))
        };
        let connection = server.serve_connection(TokioIo::new(stream), service).with_upgrades();
        let mut stopping = app.stopping.subscribe();
        tokio::spawn(async move {
            let mut connection = pin!(connection);
            tokio::select! {
                biased;
                // Its error is the client's: left, or not HTTP.
                _ = connection.as_mut() => return,
                () = client.idle_for(KEEP_ALIVE) => return,
                _ = stopping.wait_for(|stopping| *stopping) => {}
            }
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        });
    }

    drop(listener);
    app.stopping.send_replace(true);
    let finish = async {
        app.stopping.closed().await; // every connection, stream and socket has ended
        database.close().await;
    };
    let _ = timeout(GRACE, finish).await; // what takes longer is cut off
    Ok(())
}

fn listen(settings: &Settings) -> std::io::Result<Socket> {
    let domain = Domain::for_address(settings.address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&settings.address.into())?;
    socket.listen(settings.backlog)?;
    Ok(socket)
}
