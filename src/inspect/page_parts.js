// The tokens, the choice, the lens and the residual stream.

// ---- Tokens -----------------------------------------------------------------------------------------------------------

function buildText() {
  run.tokens.forEach((id, position) => {
    const text = run.pieces[id].replace(/\n/g, '⏎\n') || '∅';
    const token = make('span', {id: 'token-' + position, className: 'token'}, text);
    token.setAttribute('role', 'option');
    token.setAttribute('aria-label', word('selected', position, piece(id)));
    if (position >= run.prompt) token.classList.add('made');
    if (position >= run.computed) {
      token.classList.add('unread');
      token.setAttribute('aria-disabled', 'true');
      token.title = word('not_computed');
    }
    token.addEventListener('click', () => select({position}));
    element('text').append(token);
  });
}

function showText() {
  const row = run.attention.length > 0 ? attentionRow(selection.layer, selection.head, selection.position) : [];
  run.tokens.forEach((id, position) => {
    const token = element('token-' + position);
    token.setAttribute('aria-selected', String(position === selection.position));
    if (position < row.length) {
      shade(token, weightOf(row[position]));
    } else {
      token.style.backgroundColor = token.style.color = '';
    }
  });
  const box = element('text'), chosen = element('token-' + selection.position);
  box.setAttribute('aria-activedescendant', chosen.id);
  const top = chosen.offsetTop - box.offsetTop;
  if (top < box.scrollTop) box.scrollTop = top - 4;
  if (top + chosen.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = top + chosen.offsetHeight + 4 - box.clientHeight;
  element('selected').textContent = word('selected', selection.position, quoted(run.tokens[selection.position]));
  element('back').disabled = selection.position === 0;
  element('forth').disabled = selection.position + 1 >= run.computed;
  element('shade-head').textContent =
      run.attention.length > 0 ? word('shade_head', run.attention[selection.layer].layer, selection.head) : '';
}

// ---- The choice -------------------------------------------------------------------------------------------------------

const MOST_CANDIDATES = 12, FEWEST_CANDIDATES = 5;
const LEAST_SHOWN = 0.0005;  // less likely ones are left out, once there are a few

function probabilityCell(probability) {
  const cell = make('td', {className: 'probability'}, make('span', {className: 'number'}, percent(probability)));
  cell.style.setProperty('--share', 100 * probability + '%');
  return cell;
}

function stageName(name) {
  const bans_only = name === 'repeat-penalty' && run.settings[name] === 1;
  return bans_only ? words.banned : fill(words.stage[name], run.settings[name]);
}

// A line for each token that is followed, a column for each step of the sampler.
function showSteps(step) {
  const head = make('tr', {}, make('th', {scope: 'col'}, words.candidate));
  for (const stage of step.stages) {
    head.append(make('th', {scope: 'col'}, stageName(stage.name), make('small', {}, word('left', stage.left))));
  }
  const order = step.tokens.map((_, index) => index);
  const is_likely = index => step.stages.some(stage => stage.probability[index] >= LEAST_SHOWN);
  const shown = order.filter(index => index === step.drawn || index < FEWEST_CANDIDATES || (index < MOST_CANDIDATES && is_likely(index)));
  const body = shown.map(index => {
    const is_drawn = index === step.drawn;
    const line = make('tr', {className: is_drawn ? 'drawn' : ''},
        make('th', {scope: 'row', title: piece(step.tokens[index])}, (is_drawn ? '▸ ' : '') + short_piece(step.tokens[index], 12)));
    let is_cut = false;
    for (const stage of step.stages) {
      if (stage.rank[index] > 0) {
        const cell = probabilityCell(stage.probability[index]);
        cell.title = '#' + stage.rank[index];
        line.append(cell);
      } else {
        line.append(make('td', {className: 'cut'}, is_cut ? '' : words.cut));
        is_cut = true;
      }
    }
    return line;
  });
  element('candidates').replaceChildren(make('thead', {}, head), make('tbody', {}, ...body));
}

// The last stage as one bar from 0 to 1, with the random number on it.
function showDraw(step) {
  if (step.greedy) {
    element('draw').replaceChildren(make('p', {className: 'about'}, words.greedy));
    return;
  }
  const last = step.stages[step.stages.length - 1];
  const order = step.tokens.map((_, index) => index).filter(index => last.rank[index] > 0);
  order.sort((a, b) => last.rank[a] - last.rank[b]);
  const bar = make('div', {className: 'draw-bar'});
  bar.setAttribute('role', 'img');
  bar.setAttribute('aria-label', word('draw_label', quoted(step.tokens[step.drawn]), step.random.toFixed(3)));
  // The likeliest side by side; what is left between them and a less likely one that was drawn has no name here.
  let before = 0;
  for (const index of order) {
    if (index === step.drawn) before = step.before;
    const part = make('span', {className: index === step.drawn ? 'part drawn' : 'part', title: piece(step.tokens[index])});
    part.style.left = 100 * before + '%';
    part.style.width = 100 * last.probability[index] + '%';
    if (last.probability[index] > 0.12) part.textContent = short_piece(step.tokens[index], 10);
    before += last.probability[index];
    bar.append(part);
  }
  const mark = make('span', {className: 'mark'});
  mark.style.left = 100 * step.random + '%';
  bar.append(mark);
  element('draw').replaceChildren(make('p', {className: 'about'}, word('draw_about', step.random.toFixed(3))), bar);
}

// Where nothing was chosen: the model's own likeliest tokens.
function showGuessesOfModel(position) {
  const guesses = run.lens[run.model.layers][position];
  const head = make('tr', {}, make('th', {scope: 'col'}, words.candidate), make('th', {scope: 'col'}, words.stage.model));
  const body = [];
  for (let i = 0; i < guesses.length; i += 2) {
    const comes = run.tokens[position + 1] === guesses[i];
    body.push(make('tr', {className: comes ? 'drawn' : ''},
        make('th', {scope: 'row'}, (comes ? '▸ ' : '') + short_piece(guesses[i], 14)), probabilityCell(guesses[i + 1])));
  }
  element('candidates').replaceChildren(make('thead', {}, head), make('tbody', {}, ...body));
  element('draw').replaceChildren();
}

function showChoice() {
  const step = stepAt.get(selection.position), here = quoted(run.tokens[selection.position]);
  element('choice-note').textContent = '';
  if (step === undefined) {
    const next = run.tokens[selection.position + 1];
    element('choice-about').textContent = next === undefined ? word('choice_end', here) : word('choice_prompt', here, quoted(next));
    showGuessesOfModel(selection.position);
    return;
  }
  element('choice-about').textContent = word('choice_made', here, step.stages[0].left);
  showSteps(step);
  showDraw(step);
  const used = step.stages.map(stage => stage.name);
  const off = Object.keys(words.stage).filter(name => !used.includes(name)).map(name => fill(words.stage[name], '').trim());
  element('choice-note').textContent = [
    word('rest', element('candidates').rows.length - 1, step.stages[0].left),
    off.length > 0 && !step.greedy ? word('off', off.join(', ')) : '',
  ].join(' ');
}

// ---- The lens ---------------------------------------------------------------------------------------------------------

const LENS_COLUMNS = 24;  // to each side of the selected one

function depthName(depth) {
  return depth === 0 ? words.embedding : word('layer', depth - 1);
}

function lensCell(depth, position) {
  const [id, probability] = run.lens[depth][position];
  const cell = make('td', {id: `lens-${depth}-${position}`, title: piece(id) + ' ' + percent(probability)}, short_piece(id, 9));
  shade(cell, probability);
  if (id === run.tokens[position + 1]) cell.classList.add('came');
  const is_chosen = depth === selection.depth && position === selection.position;
  cell.setAttribute('aria-selected', String(is_chosen));
  cell.setAttribute('role', 'gridcell');
  cell.addEventListener('click', () => select({position, depth}));
  return cell;
}

function showLens() {
  const first = Math.max(0, selection.position - LENS_COLUMNS);
  const last = Math.min(run.computed - 1, selection.position + LENS_COLUMNS);
  const line = (name, className, cellOf) => {
    const row = make('tr', {className}, make('th', {scope: 'row'}, name));
    for (let position = first; position <= last; ++position) row.append(cellOf(position));
    return row;
  };
  const token = (position, tag) => {
    const id = run.tokens[position];
    return make(tag, {title: id === undefined ? '' : piece(id)}, id === undefined ? '' : short_piece(id, 9));
  };
  const head = line('', '', position => {
    const cell = token(position, 'th');
    cell.scope = 'col';
    if (position === selection.position) cell.className = 'chosen';
    return cell;
  });
  const rows = run.lens.map((_, depth) => line(depthName(depth), '', position => lensCell(depth, position)));
  const table = element('lens-table');
  table.replaceChildren(make('thead', {}, head), make('tbody', {}, ...rows, line(words.came, 'next', position => token(position + 1, 'td'))));
  table.setAttribute('aria-activedescendant', `lens-${selection.depth}-${selection.position}`);

  const scroll = element('lens-scroll'), cell = element(`lens-${selection.depth}-${selection.position}`);
  const left = cell.offsetLeft, names = table.querySelector('tbody th').offsetWidth;
  scroll.scrollLeft = left - names - (scroll.clientWidth - names - cell.offsetWidth) / 2;

  const guesses = run.lens[selection.depth][selection.position];
  const list = make('ul', {});
  for (let i = 0; i < guesses.length; i += 2) {
    const item = make('li', {}, make('span', {className: 'name'}, piece(guesses[i])), make('span', {className: 'number'}, percent(guesses[i + 1])));
    if (guesses[i] === run.tokens[selection.position + 1]) item.className = 'drawn';
    item.style.setProperty('--share', 100 * guesses[i + 1] + '%');
    list.append(item);
  }
  element('guesses').replaceChildren(
      make('p', {}, word('guesses', depthName(selection.depth), quoted(run.tokens[selection.position]))), list);
}

// ---- The residual stream ------------------------------------------------------------------------------------------------

function showNorms() {
  const at = selection.position;
  const longest = Math.max(run.embedding[at], ...run.norms.flatMap(layer => [layer.stream[at], layer.attention[at], layer.feed_forward[at]]));
  const bar = (kind, length) => {
    const line = make('div', {className: 'length ' + kind}, make('span', {className: 'number'}, length.toPrecision(3)));
    line.style.setProperty('--share', 100 * length / longest + '%');
    return line;
  };
  const rows = run.norms.map((layer, index) => make('tr', {}, make('th', {scope: 'row'}, word('layer', index)),
      make('td', {}, bar('attention', layer.attention[at]), bar('feed-forward', layer.feed_forward[at]), bar('stream', layer.stream[at]))));
  rows.unshift(make('tr', {}, make('th', {scope: 'row'}, words.embedding), make('td', {}, bar('stream', run.embedding[at]))));
  element('norms').replaceChildren(make('tbody', {}, ...rows));
}
