// Answers /hello with Express and does nothing else: what the service is measured against by `just bare`.
import express from 'express';

const app = express();
app.get('/hello', (req, res) => {
  res.type('text/plain').send('hello');
});
app.listen(Number(process.env.PORT), '127.0.0.1');
