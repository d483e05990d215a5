//! Query, path and body: each parameter once, in its one notation and within its bounds (C22, C23).

use crate::problems::Problem;
use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, RawQuery, Request};
use axum::http::{StatusCode, header};
use serde_json::Value;
use std::{borrow::Cow, ops::RangeInclusive, time::Duration};
use tokio::time::timeout;

pub const MILLISECONDS: RangeInclusive<u64> = 0..=60_000;
pub const MAX_BODY: usize = 65_536; // C34
const BODY_LIMIT: Duration = Duration::from_secs(20); // C27

/// Reads `0|[1-9][0-9]*` within bounds; `u64::from_str` alone would take `+1` and `01`.
pub fn whole_number(text: &str, bounds: RangeInclusive<u64>) -> Option<u64> {
    let canonical = text == "0" || !text.starts_with(['0', '+']);
    text.parse().ok().filter(|number| canonical && bounds.contains(number))
}

pub fn number(query: &RawQuery, name: &str, bounds: RangeInclusive<u64>) -> Result<u64, Problem> {
    let (low, high) = (*bounds.start(), *bounds.end());
    once(query, name).and_then(|value| whole_number(&value, bounds)).ok_or_else(|| {
        Problem::BadRequest(format!("{name} must be given once, as a whole number from {low} to {high}"))
    })
}

pub fn one_of(query: &RawQuery, name: &str, words: [&'static str; 2]) -> Result<&'static str, Problem> {
    let (value, [first, second]) = (once(query, name), words);
    words
        .into_iter()
        .find(|word| value.as_deref() == Some(word))
        .ok_or_else(|| Problem::BadRequest(format!("{name} must be given once, as {first} or {second}")))
}

fn once<'q>(RawQuery(query): &'q RawQuery, name: &str) -> Option<Cow<'q, str>> {
    let pairs = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
    let mut values = pairs.filter(|(key, _)| key == name).map(|(_, value)| value);
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

/// As axum's `Json`, but of one media type and with a limit of time; checks in the order C33, C34, C35.
pub struct JsonBody(pub Value);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let media_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let essence = media_type.unwrap_or_default().split(';').next().unwrap_or_default();
        if !essence.trim().eq_ignore_ascii_case("application/json") {
            return Err(Problem::UnsupportedMediaType);
        }
        if request.body().size_hint().lower() > MAX_BODY as u64 {
            return Err(Problem::ContentTooLarge); // before it arrives (C23)
        }
        let malformed = || Problem::BadRequest("the body must be JSON in UTF-8".into());
        match timeout(BODY_LIMIT, Bytes::from_request(request, state)).await {
            Ok(Ok(body)) => serde_json::from_slice(&body).map(Self).map_err(|_| malformed()),
            Ok(Err(rejection)) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(Problem::ContentTooLarge),
            _ => Err(malformed()),
        }
    }
}
