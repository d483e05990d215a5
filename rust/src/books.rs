//! /books/{id} and /books (C9, C10).

use crate::parameters::{JsonBody, whole_number};
use crate::{problems::Problem, service::App};
use axum::extract::{Path, State, rejection::PathRejection};
use axum::http::{StatusCode, header};
use axum::{Json, response::IntoResponse};
use mysql_async::Row;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

const MAX_ID: u64 = 9_007_199_254_740_991; // 2^53 - 1: the last one JavaScript holds exactly

#[derive(Serialize)]
pub struct Book {
    id: u64,
    name: String,
}

pub async fn get_book(
    State(app): State<Arc<App>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Book>, Problem> {
    let id = id.ok().and_then(|Path(id)| whole_number(&id, 1..=MAX_ID));
    let id = id.ok_or_else(|| Problem::BadRequest(format!("id must be a whole number from 1 to {MAX_ID}")))?;
    let found = app.database.execute("SELECT id, name FROM books WHERE id = ?", (id,)).await?;
    let (id, name) = found.row.ok_or(Problem::BookNotFound(id))?;
    Ok(Json(Book { id, name }))
}

pub async fn new_book(State(app): State<Arc<App>>, JsonBody(mut body): JsonBody) -> Result<impl IntoResponse, Problem> {
    let name = match body.get_mut("name").map(Value::take) {
        Some(Value::String(name)) if (1..=255).contains(&name.chars().count()) => name,
        _ => return Err(Problem::UnprocessableContent),
    };
    let added = app.database.execute::<Row>("INSERT INTO books (name) VALUES (?)", (name.as_str(),)).await?;
    let id = added.id.ok_or_else(|| Problem::internal("the new book has no id"))?;
    let location = [(header::LOCATION, format!("/books/{id}"))];
    Ok((StatusCode::CREATED, location, Json(Book { id, name })))
}
