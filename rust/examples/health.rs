//! The container's health check: the image has no shell and no curl. It asks the service beside it whether it is ready (C2).

use std::{
    env,
    io::{BufRead, BufReader, Result, Write},
    net::TcpStream,
    process::ExitCode,
    time::Duration,
};

const LIMIT: Duration = Duration::from_secs(3); // C2: an answer within 2 s

fn main() -> ExitCode {
    let port = env::var("PORT").unwrap_or_default();
    match ask(if port.is_empty() { "8080" } else { &port }) {
        Ok(status) if status.starts_with("HTTP/1.1 200 ") => return ExitCode::SUCCESS,
        Ok(status) => eprintln!("{}", status.trim_end()),
        Err(error) => eprintln!("{error}"),
    }
    ExitCode::FAILURE
}

/// The first line of the answer.
fn ask(port: &str) -> Result<String> {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}"))?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut status = String::new();
    BufReader::new(stream).read_line(&mut status)?;
    Ok(status)
}
