//! The one mapping from errors to answers: RFC 9457 problem documents (C30–C39).

use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use mysql_async::{DriverError, Error as DatabaseError};
use serde_json::json;
use std::fmt::Display;

#[derive(Debug)]
pub enum Problem {
    NotFound,
    BookNotFound(u64),
    MethodNotAllowed(&'static str), // with the methods that are allowed
    UnsupportedMediaType,
    ContentTooLarge,
    BadRequest(String),
    UnprocessableContent,
    UpgradeRequired,
    BadGateway,
    ServiceUnavailable,
    InternalServerError(String), // with the cause, which goes to stderr alone
}

impl Problem {
    pub fn internal(cause: impl Display) -> Self {
        Self::InternalServerError(cause.to_string())
    }

    /// Status, title, detail.
    fn row(&self) -> (u16, &'static str, String) {
        match self {
            Self::NotFound => (404, "Not Found", "nothing is here".into()),
            Self::BookNotFound(id) => (404, "Not Found", format!("book {id} does not exist")),
            Self::MethodNotAllowed(_) => (405, "Method Not Allowed", "the method is not allowed here".into()),
            Self::UnsupportedMediaType => (415, "Unsupported Media Type", "the body must be application/json".into()),
            Self::ContentTooLarge => (413, "Content Too Large", "the body must not exceed 65536 bytes".into()),
            Self::BadRequest(detail) => (400, "Bad Request", detail.clone()),
            Self::UnprocessableContent => {
                (422, "Unprocessable Content", "name must be a string of 1 to 255 characters".into())
            }
            Self::UpgradeRequired => (426, "Upgrade Required", "upgrade to a WebSocket".into()),
            Self::BadGateway => (502, "Bad Gateway", "the upstream did not answer".into()),
            Self::ServiceUnavailable => (503, "Service Unavailable", "the database did not answer".into()),
            Self::InternalServerError(_) => (500, "Internal Server Error", "internal error".into()),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        if let Self::InternalServerError(cause) = &self {
            eprintln!("internal error: {cause}");
        }
        let (status, title, detail) = self.row();
        let document = json!({"type": "about:blank", "title": title, "status": status, "detail": detail});
        let media_type = [(header::CONTENT_TYPE, "application/problem+json")];
        let headers = AppendHeaders(match self {
            Self::MethodNotAllowed(methods) => vec![(header::ALLOW, methods)],
            Self::UpgradeRequired => vec![(header::UPGRADE, "websocket"), (header::CONNECTION, "upgrade")],
            _ => vec![],
        });
        let status = StatusCode::from_u16(status).expect("a status of the table above");
        (status, media_type, headers, document.to_string()).into_response()
    }
}

/// A server that goes away breaks the connection, or says so first (C38); all else is our fault.
impl From<DatabaseError> for Problem {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Io(_) | DatabaseError::Driver(DriverError::ConnectionClosed) => Self::ServiceUnavailable,
            // shutting down, interrupted, killed
            DatabaseError::Server(error) if [1053, 1317, 1927].contains(&error.code) => Self::ServiceUnavailable,
            error => Self::internal(error),
        }
    }
}
