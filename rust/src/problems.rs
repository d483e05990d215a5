//! The one mapping from errors to answers: RFC 9457 problem documents (C30–C39).

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Json, Response};
use mysql_async::{DriverError, Error as DatabaseError};
use serde_json::json;
use std::{borrow::Cow, fmt::Display};

/// Status and detail.
#[derive(Clone, Debug)]
pub struct Problem(pub StatusCode, pub Cow<'static, str>);

impl Problem {
    pub const NOT_FOUND: Self = Self(StatusCode::NOT_FOUND, Cow::Borrowed("nothing is here"));
    pub const TOO_LARGE: Self =
        Self(StatusCode::PAYLOAD_TOO_LARGE, Cow::Borrowed("the body must not exceed 65536 bytes"));
    pub const NO_UPSTREAM: Self = Self(StatusCode::BAD_GATEWAY, Cow::Borrowed("the upstream did not answer"));
    pub const NO_DATABASE: Self = Self(StatusCode::SERVICE_UNAVAILABLE, Cow::Borrowed("the database did not answer"));

    pub fn bad_request(detail: String) -> Self {
        Self(StatusCode::BAD_REQUEST, detail.into())
    }

    /// The cause goes to stderr alone (C39).
    pub fn internal(cause: impl Display) -> Self {
        eprintln!("internal error: {cause}");
        Self(StatusCode::INTERNAL_SERVER_ERROR, "internal error".into())
    }
}

/// axum's own 405 has no body, and its Allow no blank (C21).
pub fn not_allowed(methods: &'static str) -> ([(HeaderName, &'static str); 1], Problem) {
    ([(header::ALLOW, methods)], Problem(StatusCode::METHOD_NOT_ALLOWED, "the method is not allowed here".into()))
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let Self(status, detail) = self;
        let title = match status {
            StatusCode::PAYLOAD_TOO_LARGE => "Content Too Large", // RFC 9110; http has the names before it
            StatusCode::UNPROCESSABLE_ENTITY => "Unprocessable Content",
            _ => status.canonical_reason().expect("a status of the contract"),
        };
        let document = json!({"type": "about:blank", "title": title, "status": status.as_u16(), "detail": detail});
        (status, [(header::CONTENT_TYPE, "application/problem+json")], Json(document)).into_response()
    }
}

/// A server that goes away breaks the connection, or says so first (C38); all else is our fault.
impl From<DatabaseError> for Problem {
    fn from(error: DatabaseError) -> Self {
        match error {
            DatabaseError::Io(_) | DatabaseError::Driver(DriverError::ConnectionClosed) => Self::NO_DATABASE,
            // shutting down, interrupted, killed
            DatabaseError::Server(error) if [1053, 1317, 1927].contains(&error.code) => Self::NO_DATABASE,
            error => Self::internal(error),
        }
    }
}
