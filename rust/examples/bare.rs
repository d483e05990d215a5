//! Answers /hello with axum and does nothing else: what the service is measured against by `just bare`.

use axum::{Router, routing::get};
use tokio::net::TcpListener;

#[tokio::main] // as many workers as cores are granted, like the service
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let app = Router::new().route("/hello", get(async || "hello"));
    let listener = TcpListener::bind(format!("127.0.0.1:{}", std::env::var("PORT")?)).await?;
    Ok(axum::serve(listener, app).await?)
}
