// Switches, filters, sorting, dialogs and charts. What is remembered is in the address, behind #: a section, lang=, theme=.
'use strict';
(async () => {
  const root = document.documentElement;

  async function unzipped(id) {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  }

  const data = JSON.parse(await unzipped('data'));
  const all = (selector, under = document) => [...under.querySelectorAll(selector)];
  const state = { lang: 'en', theme: 'auto', at: '', load: null }; // load: what stands in the calculator, once somebody changed it
  const loadFields = data.size ? data.size.fields : [];

  const words = (key, values = {}) =>
    data.words[state.lang][key].replace(/\{(\w+)\}/g, (whole, name) => (name in values ? values[name] : whole));

  // --- small helpers -------------------------------------------------------------------------------------------------

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  // As words.number: three digits, thousands with a comma.
  function number(value) {
    if (value === null || value === undefined) return '–';
    if (Math.abs(value) >= 100) return value.toLocaleString('en-US', { maximumFractionDigits: 0 });
    return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
  }

  // --- language and theme ----------------------------------------------------------------------------------------------

  function readAddress() {
    state.at = '';
    state.load = null;
    for (const part of decodeURIComponent(location.hash.slice(1)).split('&')) {
      const [name, value] = part.split('=');
      if (value === undefined) state.at = name;
      else if (loadFields.some((field) => field.name === name)) state.load = { ...state.load, [name]: value };
      else if (name === 'lang' && value in data.words) state.lang = value;
      else if (name === 'theme' && ['auto', 'light', 'dark'].includes(value)) state.theme = value;
    }
  }

  function writeAddress() {
    const parts = [state.at, state.lang === 'en' ? '' : `lang=${state.lang}`, state.theme === 'auto' ? '' : `theme=${state.theme}`];
    const load = Object.entries(state.load || {}).map(([name, value]) => `${name}=${value}`);
    const hash = [...parts, ...load].filter(Boolean).join('&');
    // A lone # would end up in the addresses of the charts' gradients.
    history.replaceState(null, '', hash ? `#${hash}` : location.pathname);
  }

  function apply() {
    root.lang = state.lang;
    if (state.theme === 'auto') delete root.dataset.theme;
    else root.dataset.theme = state.theme;
    for (const button of all('[data-lang]')) button.setAttribute('aria-pressed', String(button.dataset.lang === state.lang));
    for (const button of all('[data-theme-to]')) button.setAttribute('aria-pressed', String(button.dataset.themeTo === state.theme));
    for (const option of all('[data-say-en]')) option.textContent = state.lang === 'ko' ? option.dataset.sayKo : option.dataset.sayEn;
    compare();
    calculate();
    nameAll(document);
    tellSorted();
    filter();
    redraw();
  }

  function nameAll(under) {
    for (const named of all('[data-en]', under)) named.setAttribute('aria-label', named.dataset[state.lang]);
  }

  // What stands within closed details comes packed, as the page's own HTML.
  function fill(details) {
    details.insertAdjacentHTML('beforeend', data.later[Number(details.dataset.later)]);
    delete details.dataset.later;
    nameAll(details);
  }

  function change(what) {
    Object.assign(state, what);
    writeAddress();
    apply();
  }

  // Charts above the target get their height only when they are drawn, so they are drawn first.
  async function go(id) {
    const target = document.getElementById(id);
    if (!target) return;
    if (target.matches('.claim[hidden]')) reveal(target);
    const above = all('.canvas').filter((canvas) => canvas.offsetParent && canvas.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_FOLLOWING);
    const waiting = above.filter((canvas) => !canvas.made);
    // Smoothly only to a place that stays where it is.
    target.scrollIntoView(waiting.length ? { behavior: 'instant' } : {});
    target.focus({ preventScroll: true });
    if (!waiting.length) return;
    for (const canvas of waiting.filter((each) => !drawn.has(each))) render(canvas);
    await Promise.all(waiting.map((canvas) => canvas.ended));
    if (state.at === id) target.scrollIntoView({ behavior: 'instant' });
  }

  // --- the small table -------------------------------------------------------------------------------------------------

  // Puts the factors to the chosen baseline beside the values. Without one they are those to the best of each row, as they came.
  const asTheyCame = new Map(all('td.digest').map((cell) => {
    const told = ['.factor', '.around'].map((part) => cell.querySelector(part).textContent);
    return [cell, { told: [...told, ''], classes: cell.className }];
  }));

  function compare() {
    const chosen = document.getElementById('baseline');
    if (!chosen) return;
    for (const [cell, { told, classes }] of asTheyCame) {
      const [text, around, beside] = chosen.value ? data.factors[cell.dataset.row][chosen.value][cell.dataset.of] : told;
      cell.className = chosen.value ? classes.replace(/\b(best|tied|worse|unknown)\b/, beside) : classes;
      cell.querySelector('.factor').textContent = text;
      cell.querySelector('.around').textContent = around;
      const sign = cell.querySelector('.sign');
      if (sign) sign.hidden = Boolean(chosen.value) && !cell.classList.contains('fails');
    }
    document.getElementById('compared').textContent = chosen.value ? words('page.compared', { name: chosen.value }) : '';
  }

  function showColumns() {
    const shown = new Set(all('[name=column]:checked').map((box) => box.value));
    for (const cell of all('.digest-table [data-of]')) cell.hidden = !shown.has(cell.dataset.of);
  }

  // --- the calculator --------------------------------------------------------------------------------------------------

  const form = document.getElementById('load');

  // As render/size.py: three digits; from 10,000 on in thousands.
  function short(value) {
    const rounded = (each, digits) => each.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    if (value >= 9999.5) return value < 9.995e6 ? `${rounded(value / 1e3, 0)}k` : `${rounded(value / 1e6, 0)}M`;
    return rounded(value, value >= 99.95 || value === 0 ? 0 : value >= 9.995 ? 1 : 2);
  }

  const between = (span) => (span.low === null || span.high === null ? '' : `${short(span.low)}–${short(span.high)}`);

  function spanCell(span, bound = false) {
    if (!span) return element('td', { class: 'soft' }, words('size.not_measured'));
    return element('td', {}, (bound ? '≤' : '') + short(span.value), element('span', { class: 'below' }, between(span)));
  }

  // What somebody wrote: name → text, without what is empty.
  function inForm() {
    return Object.fromEntries(loadFields.map(({ name }) => [name, form.elements[name].value]).filter(([, value]) => value !== ''));
  }

  // The workload in the form, in the units of analyse/size.py; null where something in it is wrong, which is said.
  function workload() {
    const wrong = [];
    const load = { compute_on: null };
    for (const { name, of, per, empty } of loadFields) {
      const input = form.elements[name];
      input.setAttribute('aria-invalid', String(!input.validity.valid));
      if (!input.validity.valid) wrong.push(words('size.wrong', { field: words(`size.field.${name}`), least: input.min, most: input.max }));
      load[of] = input.value === '' ? empty : Number(input.value) / per;
    }
    if (load.calls > 0 && load.call_ms === 0) wrong.push(words('size.needs_call_time'));
    document.getElementById('load-wrong').textContent = wrong.join(' ');
    return wrong.length ? null : load;
  }

  function calculate() {
    if (!form) return;
    for (const { name, first } of loadFields) {
      const shown = state.load ? state.load[name] || '' : first;
      if (form.elements[name].value !== shown) form.elements[name].value = shown;
    }
    const load = workload();
    document.getElementById('sized').hidden = load === null;
    if (!load) return;
    const found = size.sized(data.size.model, load);
    const cores = (one) => (one.cores ? one.cores.value : Infinity);
    document.querySelector('#sized tbody').replaceChildren(...[...found].sort((a, b) => cores(a) - cores(b)).map((one) => {
      const plain = (text) => element('td', {}, text);
      const first = one.full_first && words('size.full', { station: words(`size.station.${one.full_first}`), rate: short(one.full_at) });
      return element('tr', one.lacks.length ? { class: 'fails' } : {},
        element('th', { scope: 'row' }, one.lacks.length ? `✗ ${one.contender}` : one.contender),
        spanCell(one.cores), spanCell(one.memory_mib, one.memory_bound),
        ...[one.in_flight, one.threads].map((value) => plain(value === null ? '–' : short(value))),
        plain(one.p50_ms === null ? '–' : number(one.p50_ms)), plain(first || '–'),
        one.price ? spanCell(one.price) : plain('–'));
    }));
    const many = (value) => value.toLocaleString('en-US');
    const lack = (each) => words(`size.lack.${each.station}`, { needs: many(each.needs), has: many(each.has) });
    const thousands = size.thousandsOf(data.size.model, load);
    const { run, machine, profile, reference } = data.size.model;
    const lines = [
      ...found.filter((one) => one.lacks.length).map((one) => `✗ ${one.contender}: ${one.lacks.map(lack).join('; ')}.`),
      ...found.filter((one) => one.unknown.length).map((one) => (
        `${one.contender}: ${words('size.unknown', { names: one.unknown.map((name) => words(`size.unknown.${name}`)).join(', ') })}.`)),
      words('size.connections', { db: many(found[0].db_connections), ms: load.query_ms, up: many(found[0].upstream_connections) }),
      thousands ? words('size.computing', { ms: load.compute_ms, whose: reference, rounds: many(Math.round(thousands * 1000)) }) : '',
      words('size.from', { run, machine, profile, share: `${Math.round(load.utilisation * 100)}%` }),
    ];
    document.getElementById('sized-notes').replaceChildren(...lines.filter(Boolean).map((line) => element('li', {}, line)));
    const given = Object.entries(inForm());
    document.getElementById('load-link').href = `#${['size', ...given.map(([name, value]) => `${name}=${value}`)].join('&')}`;
    const unit = Object.fromEntries(loadFields.map((field) => [field.name, field.unit === '/s' ? '' : field.unit]));
    document.getElementById('load-command').textContent =
      `./justw size --run RUN ${given.map(([name, value]) => `--${name} ${value}${unit[name]}`).join(' ')}`;
  }

  function fillIn(values) {
    state.load = values;
    writeAddress();
    calculate();
  }

  // --- claims ----------------------------------------------------------------------------------------------------------

  function filter() {
    const form = document.getElementById('filters');
    if (!form) return;
    const chosen = (name) => new Set(all(`[name=${name}]:checked`, form).map((box) => box.value));
    const [verdicts, articles] = [chosen('verdict'), chosen('article')];
    const claims = all('.claim');
    for (const claim of claims) claim.hidden = !(verdicts.has(claim.dataset.verdict) && articles.has(claim.dataset.article));
    for (const article of all('.article')) article.hidden = all('.claim:not([hidden])', article).length === 0;
    document.getElementById('shown').textContent =
      words('page.shown', { n: claims.filter((claim) => !claim.hidden).length, all: claims.length });
  }

  // A link to a claim shows it, whatever is chosen.
  function reveal(claim) {
    const boxes = ['verdict', 'article'].map((name) => `#filters [name=${name}][value="${claim.dataset[name]}"]`);
    for (const box of all(boxes.join())) box.checked = true;
    filter();
  }

  // --- the table ---------------------------------------------------------------------------------------------------------

  const figures = document.getElementById('figures');
  let sortedBy = null; // { row, reverse }

  // Puts the contenders' columns into the order of one row: best first, then worst first, then as they were.
  function sortBy(row) {
    if (!sortedBy || sortedBy.row !== row) sortedBy = { row, reverse: false };
    else if (!sortedBy.reverse) sortedBy = { row, reverse: true };
    else sortedBy = null;
    const columns = data.contenders.map((_, number) => number);
    if (sortedBy) {
      const cells = new Map([...row.cells].slice(1).map((cell) => [Number(cell.dataset.column), cell.dataset.order]));
      const rank = (column) => (cells.get(column) === undefined ? Infinity : Number(cells.get(column)));
      const [known, unknown] = [columns.filter((c) => rank(c) < Infinity), columns.filter((c) => rank(c) === Infinity)];
      known.sort((a, b) => (sortedBy.reverse ? rank(b) - rank(a) : rank(a) - rank(b)) || a - b);
      columns.splice(0, columns.length, ...known, ...unknown);
    }
    for (const line of figures.rows) {
      const cells = new Map([...line.cells].slice(1).map((cell) => [Number(cell.dataset.column), cell]));
      line.append(...columns.map((column) => cells.get(column)));
    }
    for (const line of figures.tBodies[0].rows) {
      const button = line.querySelector('.sort');
      const on = sortedBy !== null && sortedBy.row === line;
      button.setAttribute('aria-pressed', String(on));
      button.classList.toggle('reverse', on && sortedBy.reverse);
    }
    tellSorted();
  }

  function tellSorted() {
    const name = sortedBy && sortedBy.row.querySelector('.sort b').textContent;
    document.getElementById('sorted').textContent = sortedBy
      ? words('page.sorted', { row: name, order: words(sortedBy.reverse ? 'page.worst_first' : 'page.best_first') })
      : words('page.unsorted');
  }

  for (const line of figures.rows) [...line.cells].slice(1).forEach((cell, number) => { cell.dataset.column = number; });

  // --- dialogs -----------------------------------------------------------------------------------------------------------

  const dialog = document.getElementById('dialog');

  function show(title, ...content) {
    document.getElementById('dialog-title').textContent = title;
    document.getElementById('dialog-body').replaceChildren(...content);
    dialog.showModal();
    dialog.scrollTop = 0;
  }

  function rawLink(file) {
    if (!file) return '–';
    // A run's own files lie beside the page, or in the archive of a kept run; anything else is named, not linked.
    if (!/^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/.test(file)) return file;
    return data.packed ? element('a', { href: 'raw.tar.xz', title: `./justw raw RUN ${file}` }, file) : element('a', { href: file }, file);
  }

  const three = (values) => values.map(number).join(' / ');

  // A line for each cell, as html_data.py lists them. Where throughput is the headline it stands there once.
  function cellTable(cells, unit, title) {
    const columns = [
      [words('head.round'), ([round, attempt]) => (attempt > 1 ? `${round} (${words('page.attempt', { n: attempt })})` : String(round))],
      [words('head.status'), (cell) => words(`status.${cell[2]}`), 'text'],
      [unit, (cell) => number(cell[3])],
      [words('page.requests'), (cell) => cell[4].toLocaleString('en-US')],
      [words('head.throughput'), (cell) => number(cell[5])],
      [words('page.latency'), (cell) => three(cell[6])],
      [words('page.cpu'), (cell) => three(cell[7])],
      [words('page.memory_mib'), (cell) => number(cell[8])],
      [words('head.limit'), (cell) => (cell[9] ? words(`limit.${cell[9]}`) : '–'), 'text'],
      [words('head.raw'), (cell) => rawLink(cell[11]), 'text'],
    ].filter(([head], number_) => number_ !== 4 || head !== unit);
    const head = element('tr', {}, ...columns.map(([name, , kind = '']) => element('th', { scope: 'col', class: kind }, name)));
    const line = (cell) => element('tr', {}, ...columns.map(([, say, kind = ''], number_) => (
      element(number_ ? 'td' : 'th', number_ ? { class: kind } : { scope: 'row' }, say(cell)))));
    const table = element('table', { class: 'small' }, element('thead', {}, head), element('tbody', {}, ...cells.map(line)));
    return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': title }, table);
  }

  function sentences(round, numbers) {
    return numbers.map((each) => {
      const sentence = data.sentences[each];
      const meaning = data.words[state.lang][`check.${sentence.split(' ', 1)[0]}`];
      const explained = meaning ? [' ', element('span', { class: 'soft' }, `(${meaning})`)] : [];
      return element('li', {}, `${words('page.doubts_of_round', { round })}: `, element('span', { lang: 'en' }, sentence), ...explained);
    });
  }

  function showCell(key) {
    const [contender, scenario] = key.split('/').map(Number);
    const cells = data.cells[key] || [];
    const title = `${data.contenders[contender]} · ${data.scenarios[scenario]}`;
    if (!cells.length) return show(title, element('p', {}, words('page.no_cells')));
    const unit = data.units[state.lang][data.scenarios[scenario]];
    const doubts = cells.flatMap((cell) => sentences(cell[0], cell[10]));
    return show(title, cellTable(cells, unit, title), ...(doubts.length ? [element('ul', {}, ...doubts)] : []),
      element('p', { class: 'soft' }, words('page.checks_note')));
  }

  function showPair(name, other) {
    const of = (table, a, b) => (table[a] || {})[b] || [];
    const list = (ids) => element('ul', {}, ...ids.map((id) => element('li', {}, data.criteria[state.lang][id] || id)));
    const [won, lost, compared] = [of(data.better, name, other), of(data.better, other, name), of(data.compared, name, other)];
    const tied = compared.filter((id) => !won.includes(id) && !lost.includes(id));
    const unknown = Object.keys(data.criteria[state.lang]).filter((id) => ![...won, ...lost, ...compared].includes(id));
    const part = (title, ids) => (ids.length ? [element('h3', {}, title), list(ids)] : []);
    const better = (a, b, ids) => words('page.better_in', { name: a, other: b, n: ids.length });
    show(better(name, other, won), list(won), ...part(better(other, name, lost), lost),
      ...part(words('page.tied', { n: tied.length }), tied), ...part(words('page.not_compared'), unknown));
  }

  // --- charts -------------------------------------------------------------------------------------------------------------

  const drawn = new Set();

  // The Korean chart from the English one and their difference (html_data.difference).
  function patched(value, change) {
    if (change === null || change === undefined) return value;
    if (Array.isArray(change)) return change[0];
    const made = Array.isArray(value) ? [...value] : { ...value };
    for (const [key, below] of Object.entries(change)) made[key] = patched(value[key], below);
    return made;
  }

  // The drawing library comes packed; it is needed when the first chart comes near. Its hash is in the page's policy.
  let library = null;

  function unpacked() {
    library ||= unzipped('bundle').then((source) => document.head.append(element('script', {}, source)));
    return library;
  }

  const prefersDark = matchMedia('(prefers-color-scheme: dark)');

  const themeNow = () => (state.theme !== 'auto' ? state.theme : prefersDark.matches ? 'dark' : 'light');
  const look = () => `${state.lang} ${themeNow()}`;

  function draw(canvas) {
    const specs = data.charts[canvas.dataset.chart];
    if (!specs) return;
    const theme = themeNow();
    canvas.look = look();
    const spec = {
      ...(state.lang === 'ko' ? patched(...specs) : specs[0]),
      config: { ...data.config[theme], background: 'transparent' },
    };
    const options = { mode: 'vega-lite', actions: false, ast: true, renderer: 'svg', tooltip: { theme } };
    canvas.ended = (canvas.ended || Promise.resolve())
      .then(unpacked)
      .then(() => window.vegaEmbed(canvas.firstElementChild, spec, options))
      .then((made) => {
        if (canvas.made) canvas.made.finalize();
        canvas.made = made;
        canvas.tabIndex = canvas.scrollWidth > canvas.clientWidth ? 0 : -1; // a chart that is wider than the screen scrolls by keys
      })
      .catch((error) => console.error(error));
  }

  // A chart that is drawn again is empty for a moment, and what is below it moves.
  function redraw() {
    for (const canvas of drawn) if (canvas.look !== look()) draw(canvas);
  }

  function render(canvas) {
    watcher.unobserve(canvas);
    drawn.add(canvas);
    draw(canvas);
  }

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((each) => each.isIntersecting)) {
      render(entry.target);
    }
  }, { rootMargin: '300px' });

  // --- what the reader does -------------------------------------------------------------------------------------------------

  document.addEventListener('click', (event) => {
    const at = (selector) => event.target.closest(selector);
    const found = at('button, a[href^="#"]');
    if (event.target === dialog) dialog.close();
    if (!found) return;
    if (found.matches('a')) {
      event.preventDefault();
      if (found.id === 'load-link') fillIn(inForm());
      change({ at: found.getAttribute('href').slice(1).split('&')[0] });
      go(state.at);
    } else if (found.dataset.lang) change({ lang: found.dataset.lang });
    else if (found.dataset.themeTo) change({ theme: found.dataset.themeTo });
    else if (found.dataset.cell) showCell(found.dataset.cell);
    else if (found.dataset.pair) showPair(found.dataset.pair, found.dataset.other);
    else if (found.dataset.example) fillIn(JSON.parse(found.dataset.example));
    else if (found.matches('.sort')) sortBy(found.closest('tr'));
    else if (found.id === 'close') dialog.close();
    else if (found.id === 'unfold') {
      const open = found.getAttribute('aria-pressed') === 'false';
      found.setAttribute('aria-pressed', String(open));
      for (const details of all('.claim [data-later]')) fill(details);
      for (const details of all('.claim details')) details.open = open;
    }
  });
  document.addEventListener('toggle', (event) => { if (event.target.dataset.later !== undefined) fill(event.target); }, true);
  document.addEventListener('input', (event) => {
    if (form && event.target.form === form) fillIn(inForm());
  });
  document.addEventListener('change', (event) => {
    if (event.target.closest('#filters')) filter();
    if (event.target.id === 'baseline') compare();
    if (event.target.name === 'column') showColumns();
  });
  window.addEventListener('hashchange', () => { readAddress(); apply(); go(state.at); });
  prefersDark.addEventListener('change', redraw);

  readAddress();
  writeAddress();
  apply();
  for (const canvas of all('.canvas')) watcher.observe(canvas);
  if (state.at) go(state.at);
})();
