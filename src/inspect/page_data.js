// What was recorded, and small helpers that all parts of the page use.
const run = JSON.parse(document.getElementById('run').textContent);
const words = WORDS[run.language] || WORDS.english;

function fill(text, ...values) {
  return text.replace(/\{(\d)\}/g, (_, index) => values[index]);
}
function word(name, ...values) {
  return fill(words[name], ...values);
}
function element(id) {
  return document.getElementById(id);
}
// make('td', {className: 'cut'}, 'text', another element, ...)
function make(tag, properties, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// A token with its blanks made visible, and in quotes where it stands in a sentence.
function piece(id) {
  return run.pieces[id].replace(/\n/g, '⏎').replace(/\t/g, '⇥').replace(/^ +| +$/g, blanks => '·'.repeat(blanks.length)) || '∅';
}
function short_piece(id, length) {
  const characters = Array.from(piece(id));
  return characters.length <= length ? characters.join('') : characters.slice(0, length - 1).join('') + '…';
}
function quoted(id) {
  return '“' + piece(id) + '”';
}

function percent(p) {
  const digits = p >= 0.0995 ? 0 : p >= 0.00995 ? 1 : 2;
  return p > 0 && p < 0.00005 ? '<0.01%' : (100 * p).toFixed(digits) + '%';
}

// The selection: a position, a head (an index into run.attention and a number), and a depth of the lens.
const selection = {position: 0, layer: 0, head: 0, depth: run.model.layers};
const stepAt = new Map(run.steps.map(step => [step.position - 1, step]));  // by the position that it was computed at

// ---- Attention: [layer] -> roots; position after position, all heads, the keys up to the position ---------------------

const attentionRoots = run.attention.map(() => null);
function rootsOf(layer) {
  if (attentionRoots[layer] === null) {
    attentionRoots[layer] = Uint8Array.from(atob(run.attention[layer].roots), letter => letter.charCodeAt(0));
  }
  return attentionRoots[layer];
}
// Of one head and one query 255 times the square root of each weight: a view of query + 1 bytes.
function attentionRow(layer, head, query) {
  const start = run.model.heads * query * (query + 1) / 2 + head * (query + 1);
  return rootsOf(layer).subarray(start, start + query + 1);
}

function weightOf(root) {
  return (root / 255) ** 2;
}

// The head that looks least at the first token and at itself: one that has something to show.
function tellingHead() {
  let best = {layer: 0, head: 0, share: -1};
  for (let layer = 0; layer < run.attention.length; ++layer) {
    for (let head = 0; head < run.model.heads; ++head) {
      let share = 0;
      for (let query = 1; query < run.computed; ++query) {
        const row = attentionRow(layer, head, query);
        share += 1 - weightOf(row[0]) - weightOf(row[query]);
      }
      if (share > best.share) best = {layer, head, share};
    }
  }
  return best;
}

// ---- Colours: one hue from the ground to its contrast, in 256 steps of rising luminance difference -------------------

let ramp = [];
function readRamp() {
  const style = getComputedStyle(document.documentElement);
  const stops = ['--ramp-0', '--ramp-1', '--ramp-2'].map(name => {
    const hex = style.getPropertyValue(name).trim();
    return [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
  });
  ramp = Array.from({length: 256}, (_, step) => {
    const along = step / 255 * 2, from = Math.min(1, Math.floor(along));
    return stops[from].map((low, i) => Math.round(low + (stops[from + 1][i] - low) * (along - from)));
  });
}
// How far along the ramp a share (0 to 1) is: a root of it, so that small ones show; the longer the text, the smaller an
// even share is, and the higher the root. An even share is 15 % along.
const ROOT = Math.min(0.6, Math.max(0.33, Math.log(0.15) / Math.log(1 / Math.max(2, run.computed))));
function rampStep(share) {
  return Math.round(255 * Math.min(1, Math.max(0, share)) ** ROOT);
}
// Paints an element by a share, its letters in black or white, whichever is easier to read.
function shade(target, share) {
  const [r, g, b] = ramp[rampStep(share)];
  target.style.backgroundColor = `rgb(${r}, ${g}, ${b})`;
  target.style.color = 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#111' : '#fff';
}
