//! Query, path and body: each parameter once, in its one notation and within its bounds (C22, C23).

use crate::problems::Problem;
use axum::body::{Bytes, HttpBody};
use axum::extract::{FromRequest, RawQuery, Request};
use axum::http::{StatusCode, header::CONTENT_TYPE};
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
    let wanted = || format!("{name} must be given once, as a whole number from {low} to {high}");
    once(query, name).and_then(|value| whole_number(&value, bounds)).ok_or_else(|| Problem::bad_request(wanted()))
}

pub fn one_of(query: &RawQuery, name: &str, words: [&'static str; 2]) -> Result<&'static str, Problem> {
    let value = once(query, name);
    let wanted = || format!("{name} must be given once, as {}", words.join(" or "));
    words.into_iter().find(|word| value.as_deref() == Some(word)).ok_or_else(|| Problem::bad_request(wanted()))
}

fn once<'q>(RawQuery(query): &'q RawQuery, name: &str) -> Option<Cow<'q, str>> {
    let pairs = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
    let mut values = pairs.filter(|(key, _)| key == name).map(|(_, value)| value);
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

/// The name of a new book. axum's `Json` takes other media types too, and waits for ever. Checks in the order C33–C36.
pub struct BookName(pub String);

impl<S: Send + Sync> FromRequest<S> for BookName {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let media_type = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
        if !media_type.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json")) {
            return Err(Problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, "the body must be application/json".into()));
        }
        if request.body().size_hint().lower() > MAX_BODY as u64 {
            return Err(Problem::TOO_LARGE); // before it arrives (C23)
        }
        let document = match timeout(BODY_LIMIT, Bytes::from_request(request, state)).await {
            Ok(Ok(body)) => serde_json::from_slice::<Value>(&body).ok(),
            Ok(Err(error)) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => return Err(Problem::TOO_LARGE),
            _ => None,
        };
        let mut document = document.ok_or_else(|| Problem::bad_request("the body must be JSON in UTF-8".into()))?;
        match document.get_mut("name").map(Value::take) {
            Some(Value::String(name)) if (1..=255).contains(&name.chars().count()) => Ok(Self(name)),
            _ => Err(Problem(StatusCode::UNPROCESSABLE_ENTITY, "name must be a string of 1 to 255 characters".into())),
        }
    }
}
