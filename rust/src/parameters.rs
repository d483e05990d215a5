//! Parameters: each given exactly once, in the one notation and within its bounds (C22).

use std::{borrow::Cow, ops::RangeInclusive};

use axum::extract::RawQuery;

use crate::problems::Problem;

pub const MILLISECONDS: RangeInclusive<u64> = 0..=60_000;
pub const INTERVAL_MS: RangeInclusive<u64> = 10..=60_000;

/// Reads `0|[1-9][0-9]*` within bounds; `u64::from_str` alone would take `+1` and `01`.
pub fn whole_number(text: &str, bounds: RangeInclusive<u64>) -> Option<u64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits && (text == "0" || !text.starts_with('0'));
    let number = canonical.then(|| text.parse().ok())??;
    bounds.contains(&number).then_some(number)
}

pub fn number(query: &RawQuery, name: &str, bounds: RangeInclusive<u64>) -> Result<u64, Problem> {
    let (low, high) = (*bounds.start(), *bounds.end());
    once(query, name).and_then(|value| whole_number(&value, bounds)).ok_or_else(|| {
        let bounds = format!("as a whole number from {low} to {high}");
        Problem::BadRequest(format!("{name} must be given once, {bounds}").into())
    })
}

/// Whether a parameter is the second of its two words; the first makes it false.
pub fn is_second(query: &RawQuery, name: &str, words: [&str; 2]) -> Result<bool, Problem> {
    let [first, second] = words;
    match once(query, name) {
        Some(value) if value == first => Ok(false),
        Some(value) if value == second => Ok(true),
        _ => Err(Problem::BadRequest(
            format!("{name} must be given once, as {first} or {second}").into(),
        )),
    }
}

fn once<'q>(RawQuery(query): &'q RawQuery, name: &str) -> Option<Cow<'q, str>> {
    let pairs = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes());
    let mut values = pairs.filter(|(key, _)| key == name).map(|(_, value)| value);
    let value = values.next()?;
    values.next().is_none().then_some(value)
}
