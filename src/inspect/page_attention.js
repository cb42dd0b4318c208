// The grid of small maps, and the large one.

// A head's map of at most `most` pixels to a side; where that is less than one for each token, a pixel has the largest
// weight of those that it stands for.
function imageOf(layer, head, most) {
  const n = run.computed, side = Math.min(n, Math.floor(most));
  const largest = new Uint8Array(side * side), is_seen = new Uint8Array(side * side);
  for (let query = 0; query < n; ++query) {
    const row = attentionRow(layer, head, query), line = Math.floor(query * side / n) * side;
    for (let key = 0; key <= query; ++key) {
      const at = line + Math.floor(key * side / n);
      is_seen[at] = 255;
      if (row[key] > largest[at]) largest[at] = row[key];
    }
  }
  const image = make('canvas', {width: side, height: side});
  const context = image.getContext('2d');
  const pixels = context.createImageData(side, side);
  const colours = Array.from({length: 256}, (_, root) => ramp[rampStep(weightOf(root))]);
  for (let at = 0; at < side * side; ++at) pixels.data.set([...colours[largest[at]], is_seen[at]], 4 * at);
  context.putImageData(pixels, 0, 0);
  return image;
}

// The map in a square of `size` of the context's pixels, which are `scale` of the canvas's each.
function drawImage(context, layer, head, x, y, size, scale) {
  context.imageSmoothingEnabled = false;
  context.drawImage(imageOf(layer, head, size * scale), x, y, size, size);
}

// ---- The grid of heads --------------------------------------------------------------------------------------------------

function headId(layer, head) {
  return `head-${layer}-${head}`;
}

function buildHeads() {
  const grid = element('heads');
  const size = Math.max(14, Math.min(46, Math.floor(280 / run.model.heads)));
  grid.style.setProperty('--size', size + 'px');
  grid.style.gridTemplateColumns = `auto repeat(${run.model.heads}, var(--size))`;
  run.attention.forEach((kept, layer) => {
    grid.append(make('span', {className: 'layer'}, String(kept.layer)));
    for (let head = 0; head < run.model.heads; ++head) {
      const map = make('canvas', {id: headId(layer, head), width: 2 * size, height: 2 * size, title: word('head', kept.layer, head)});
      map.setAttribute('role', 'option');
      map.setAttribute('aria-label', word('head', kept.layer, head));
      map.addEventListener('click', () => select({layer, head}));
      grid.append(map);
    }
  });
}

function drawHeads() {
  drawScale();
  run.attention.forEach((_, layer) => {
    for (let head = 0; head < run.model.heads; ++head) {
      const map = element(headId(layer, head)), context = map.getContext('2d');
      context.clearRect(0, 0, map.width, map.height);
      drawImage(context, layer, head, 0, 0, map.width, 1);
    }
  });
}

// What the colours mean.
function drawScale() {
  element('scale').replaceChildren(...[0, 0.001, 0.01, 0.05, 0.2, 0.5, 1].map(share => {
    const step = make('span', {}, 100 * share + '%');
    shade(step, share);
    return step;
  }));
}

function showHeads() {
  for (const map of element('heads').querySelectorAll('canvas')) {
    map.setAttribute('aria-selected', String(map.id === headId(selection.layer, selection.head)));
  }
  element('heads').setAttribute('aria-activedescendant', headId(selection.layer, selection.head));
}

// ---- The large map --------------------------------------------------------------------------------------------------------

const LEAST_LABELLED_CELL = 11;  // pixels that a cell must have for its token to be written beside it
let pointed = null;              // {query, key} under the pointer or the keyboard's cursor

// Where the map lies in its canvas: margins for the tokens' names, or for positions where there is no room for names.
function mapGeometry() {
  const canvas = element('map'), width = canvas.clientWidth;
  const is_named = (width - 84 - 38) / run.computed >= LEAST_LABELLED_CELL;
  const left = is_named ? 84 : 34, top = is_named ? 72 : 22;
  const side = Math.max(40, width - left - (is_named ? 38 : 2));  // the last name leans over the right edge
  return {canvas, width, is_named, left, top, side, cell: side / run.computed, height: top + side + 2};
}

function drawNames(context, place) {
  const step = place.is_named ? 1 : [10, 20, 50, 100, 200, 500, 1000].find(count => count * place.cell >= 34) || 2000;
  context.textBaseline = 'middle';
  for (let position = 0; position < run.computed; position += step) {
    const name = place.is_named ? short_piece(run.tokens[position], 10) : String(position);
    const middle = (position + 0.5) * place.cell;
    context.fillStyle = position === selection.position ? colour('--made') : colour('--muted');
    context.textAlign = 'right';
    context.fillText(name, place.left - 5, place.top + middle);
    context.save();
    context.translate(place.left + middle, place.top - 5);
    if (place.is_named) context.rotate(-Math.PI / 3);
    const is_near_edge = place.left + middle + 14 > place.width;
    context.textAlign = place.is_named ? 'left' : is_near_edge ? 'right' : 'center';
    context.fillText(name, 0, place.is_named ? 0 : -6);
    context.restore();
  }
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function drawMap() {
  const place = mapGeometry(), scale = window.devicePixelRatio || 1;
  place.canvas.style.height = place.height + 'px';
  place.canvas.width = Math.round(place.width * scale);
  place.canvas.height = Math.round(place.height * scale);
  const context = place.canvas.getContext('2d');
  context.scale(scale, scale);
  context.font = '11px ' + colour('--mono');
  drawNames(context, place);
  drawImage(context, selection.layer, selection.head, place.left, place.top, place.side, scale);
  const frame = (query, key, n_keys, name) => {
    context.strokeStyle = colour(name);
    context.lineWidth = 1.5;
    context.strokeRect(place.left + key * place.cell, place.top + query * place.cell, Math.max(2, n_keys * place.cell), Math.max(2, place.cell));
  };
  frame(selection.position, 0, selection.position + 1, '--made');
  if (pointed !== null) frame(pointed.query, pointed.key, 1, '--ink');
}

function showMap() {
  const layer = run.attention[selection.layer].layer;
  element('head-name').textContent = word('head', layer, selection.head);
  element('map').setAttribute('aria-label', word('map_label', layer, selection.head));
  drawMap();
  showReadout();
  const row = attentionRow(selection.layer, selection.head, selection.position);
  const strongest = Array.from(row.keys()).sort((a, b) => row[b] - row[a]).slice(0, 4).filter(key => row[key] > 0);
  element('strongest').textContent = word('strongest', quoted(run.tokens[selection.position]),
      strongest.map(key => `${quoted(run.tokens[key])} ${percent(weightOf(row[key]))}`).join(', '));
}

function showReadout() {
  const {query, key} = pointed || {query: selection.position, key: strongestKey(selection.position)};
  const weight = weightOf(attentionRow(selection.layer, selection.head, query)[key]);
  const name = position => `${quoted(run.tokens[position])} (${position})`;
  element('readout').textContent = word('weight', name(query), name(key), percent(weight));
}

function strongestKey(query) {
  const row = attentionRow(selection.layer, selection.head, query);
  return row.indexOf(Math.max(...row));
}

function pointAt(event) {
  const place = mapGeometry(), box = place.canvas.getBoundingClientRect();
  // Half a pixel more: an event names the corner of the pixel that was meant.
  const key = Math.floor((event.clientX + 0.5 - box.left - place.left) / place.cell);
  const query = Math.floor((event.clientY + 0.5 - box.top - place.top) / place.cell);
  pointed = query >= 0 && query < run.computed && key >= 0 && key <= query ? {query, key} : null;
  drawMap();
  showReadout();
}

function moveCursor(down, right) {
  const from = pointed || {query: selection.position, key: strongestKey(selection.position)};
  const query = Math.min(run.computed - 1, Math.max(0, from.query + down));
  pointed = {query, key: Math.min(query, Math.max(0, from.key + right))};
  drawMap();
  showReadout();
}

function listenToMap() {
  const map = element('map');
  map.addEventListener('pointermove', pointAt);
  map.addEventListener('pointerleave', event => {
    if (event.pointerType !== 'mouse') return;  // a finger's last place stays shown
    pointed = null;
    drawMap();
    showReadout();
  });
  map.addEventListener('click', event => {
    pointAt(event);
    if (pointed !== null) select({position: pointed.query});
  });
}
