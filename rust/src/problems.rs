//! The one mapping from errors to answers: RFC 9457 problem documents (C30–C39).

use std::borrow::Cow;

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

#[derive(Debug)]
pub enum Problem {
    NotFound,
    NoBook(u64),
    /// With the methods that are allowed.
    MethodNotAllowed(&'static str),
    NotJson,
    TooLarge,
    NotWebSocket,
    BadRequest(Cow<'static, str>),
    WrongName,
    Upstream,
    Database,
    /// With the cause, which goes to stderr alone.
    Internal(String),
}

#[derive(Serialize)]
struct Document<'a> {
    r#type: &'static str,
    title: &'static str,
    status: u16,
    detail: &'a str,
}

impl Problem {
    fn status(&self) -> (u16, &'static str) {
        match self {
            Self::NotFound | Self::NoBook(_) => (404, "Not Found"),
            Self::MethodNotAllowed(_) => (405, "Method Not Allowed"),
            Self::NotJson => (415, "Unsupported Media Type"),
            Self::TooLarge => (413, "Content Too Large"),
            Self::BadRequest(_) => (400, "Bad Request"),
            Self::WrongName => (422, "Unprocessable Content"),
            Self::NotWebSocket => (426, "Upgrade Required"),
            Self::Upstream => (502, "Bad Gateway"),
            Self::Database => (503, "Service Unavailable"),
            Self::Internal(_) => (500, "Internal Server Error"),
        }
    }

    fn detail(&self) -> Cow<'_, str> {
        match self {
            Self::NotFound => "nothing is here".into(),
            Self::NoBook(id) => format!("book {id} does not exist").into(),
            Self::MethodNotAllowed(_) => "the method is not allowed here".into(),
            Self::NotJson => "the body must be application/json".into(),
            Self::TooLarge => "the body must not exceed 65536 bytes".into(),
            Self::BadRequest(detail) => detail.as_ref().into(),
            Self::NotWebSocket => "upgrade to a WebSocket".into(),
            Self::WrongName => "name must be a string of 1 to 255 characters".into(),
            Self::Upstream => "the upstream did not answer".into(),
            Self::Database => "the database did not answer".into(),
            Self::Internal(_) => "internal error".into(),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        if let Self::Internal(cause) = &self {
            eprintln!("internal error: {cause}");
        }
        let (status, title) = self.status();
        let detail = self.detail();
        let document = Document { r#type: "about:blank", title, status, detail: &detail };
        let mut response = Json(document).into_response();
        *response.status_mut() = StatusCode::from_u16(status).expect("a status of the table above");
        let headers = response.headers_mut();
        let media_type = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, media_type);
        match self {
            Self::MethodNotAllowed(methods) => {
                headers.insert(header::ALLOW, HeaderValue::from_static(methods));
            }
            Self::NotWebSocket => {
                headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
                headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            }
            _ => {}
        }
        response
    }
}
