//! /books/{id} and /books (C9, C10).

use std::{fmt, sync::Arc};

use axum::{
    Json,
    body::Body,
    extract::{Path, State, rejection::PathRejection},
    http::{HeaderMap, StatusCode, header},
    response::IntoResponse,
};
use serde::{
    Deserialize, Serialize,
    de::{Deserializer, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{parameters::whole_number, problems::Problem, routes, routes::App};

pub const NOT_JSON: &str = "the body must be JSON in UTF-8";
const MAX_ID: u64 = 9_007_199_254_740_991; // 2^53 - 1: the last one JavaScript holds exactly

#[derive(Serialize)]
pub struct Book {
    id: u64,
    name: String,
}

pub async fn read(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Book>, Problem> {
    let id = id.ok().and_then(|Path(id)| whole_number(&id, 1..=MAX_ID)).ok_or_else(|| {
        Problem::BadRequest(format!("id must be a whole number from 1 to {MAX_ID}").into())
    })?;
    let found = app.database.execute("SELECT id, name FROM books WHERE id = ?", (id,)).await?;
    let (id, name) = found.row()?.ok_or(Problem::NoBook(id))?;
    Ok(Json(Book { id, name }))
}

pub async fn create(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    body: Body,
) -> Result<impl IntoResponse, Problem> {
    let name = name(&routes::json_body(&headers, body).await?)?;
    let statement = "INSERT INTO books (name) VALUES (?)";
    let added = app.database.execute(statement, (name.as_str(),)).await?;
    let id = added.id.ok_or_else(|| Problem::Internal("the new book has no id".into()))?;
    let location = [(header::LOCATION, format!("/books/{id}"))];
    Ok((StatusCode::CREATED, location, Json(Book { id, name })))
}

/// Splits "malformed" (C35) from "does not fit" (C36). A lone surrogate is well-formed JSON that
/// no Rust string can hold, so parts stay raw text until their turn comes.
fn name(body: &[u8]) -> Result<String, Problem> {
    let document: &RawValue =
        serde_json::from_slice(body).map_err(|_| Problem::BadRequest(NOT_JSON.into()))?;
    let object: Named = serde_json::from_str(document.get()).map_err(|_| Problem::WrongName)?;
    let name = object.name.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    name.filter(|name| (1..=255).contains(&name.chars().count())).ok_or(Problem::WrongName)
}

/// An object's `name`: of equal keys the last counts, where a derived struct would refuse (C23).
struct Named<'a> {
    name: Option<&'a RawValue>,
}

impl<'de: 'a, 'a> Deserialize<'de> for Named<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Named<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Named<'de>, M::Error> {
                let mut name = None;
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    if serde_json::from_str::<String>(key.get()).is_ok_and(|key| key == "name") {
                        name = Some(value);
                    }
                }
                Ok(Named { name })
            }
        }

        deserializer.deserialize_map(Object)
    }
}
