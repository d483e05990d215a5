// C9, C10: ordinary database work.
import createError from 'http-errors';
import { bookId, bookName } from './parameters.js';
import { leaving } from './waiting.js';

export async function getBook(req, res) {
  const id = bookId(req.params.id);
  const { database } = req.app.locals;
  const [row] = await database.query('SELECT id, name FROM books WHERE id = ?', [id], leaving(res).signal);
  if (row === undefined) throw createError(404, `book ${id} does not exist`);
  res.json({ id: row.id, name: row.name });
}

export async function newBook(req, res) {
  const { signal } = leaving(res);
  const name = await bookName(req, res);
  const { insertId: id } = await req.app.locals.database.query('INSERT INTO books (name) VALUES (?)', [name], signal);
  res.status(201).set('Location', `/books/${id}`).json({ id, name });
}
