// C9, C10: ordinary database work.
import { bookId, bookName } from './parameters.js';
import { notFound } from './problems.js';
import { leaving } from './waiting.js';

/** C9 */
export function book(database) {
  return async (req, res) => {
    const id = bookId(req.params.id);
    const [row] = await database.query('SELECT id, name FROM books WHERE id = ?', [id], leaving(res).signal);
    if (row === undefined) throw notFound(`book ${id} does not exist`);
    res.json({ id: row.id, name: row.name });
  };
}

/** C10 */
export function newBook(database) {
  return async (req, res) => {
    const { signal } = leaving(res);
    const name = await bookName(req);
    const { insertId: id } = await database.query('INSERT INTO books (name) VALUES (?)', [name], signal);
    res.status(201).set('Location', `/books/${id}`).json({ id, name });
  };
}
