//! /books/{id} and /books (C9, C10).

use crate::parameters::{BookName, whole_number};
use crate::problems::Problem;
use crate::service::{Answer, Answered, App};
use axum::extract::{Path, State, rejection::PathRejection};
use axum::http::{StatusCode, header};
use axum::{Json, response::IntoResponse};
use mysql_async::Row;
use std::sync::Arc;

const MAX_ID: u64 = 9_007_199_254_740_991; // 2^53 - 1: the last one JavaScript holds exactly

pub async fn get_book(State(app): State<Arc<App>>, id: Result<Path<String>, PathRejection>) -> Answered {
    let id = id.ok().and_then(|Path(id)| whole_number(&id, 1..=MAX_ID));
    let id = id.ok_or_else(|| Problem::bad_request(format!("id must be a whole number from 1 to {MAX_ID}")))?;
    let (book, _) = app.database.execute("SELECT id, name FROM books WHERE id = ?", (id,).into()).await?;
    let (id, name) = book.ok_or_else(|| Problem(StatusCode::NOT_FOUND, format!("book {id} does not exist").into()))?;
    Ok(Json(Answer::Book { id, name }))
}

pub async fn new_book(State(app): State<Arc<App>>, BookName(name): BookName) -> Result<impl IntoResponse, Problem> {
    let (_, id) = app.database.execute::<Row>("INSERT INTO books (name) VALUES (?)", (name.as_str(),).into()).await?;
    let id = id.ok_or_else(|| Problem::internal("the new book has no id"))?;
    Ok((StatusCode::CREATED, [(header::LOCATION, format!("/books/{id}"))], Json(Answer::Book { id, name })))
}
