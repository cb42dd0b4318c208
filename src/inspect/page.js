// One selection, which all parts show; what changes it is here.

// Parts change their height; the one that is being used stays where it is on the screen.
function select(changes) {
  const used = document.activeElement.closest('section');
  const top = used === null ? 0 : used.getBoundingClientRect().top;
  change(changes);
  if (used !== null) window.scrollBy(0, used.getBoundingClientRect().top - top);
}

function change(changes) {
  const before = {...selection};
  Object.assign(selection, changes);
  selection.position = Math.min(run.computed - 1, Math.max(0, selection.position));
  const moved = before.position !== selection.position;
  const turned = before.layer !== selection.layer || before.head !== selection.head;
  if (moved || turned) {
    showText();
    if (run.attention.length > 0) {
      showHeads();
      showMap();
    }
  }
  if (moved) {
    showChoice();
    showNorms();
  }
  if (moved || before.depth !== selection.depth) showLens();
}

function showAll() {
  readRamp();
  showText();
  showChoice();
  if (run.attention.length > 0) {
    drawHeads();
    showHeads();
    showMap();
  }
  showLens();
  showNorms();
}

// ---- Walking through the tokens -----------------------------------------------------------------------------------------

let walk = null;

function stopWalk() {
  clearInterval(walk);
  walk = null;
  element('play').setAttribute('aria-pressed', 'false');
  element('play').textContent = '▶';
}

function startWalk() {
  if (selection.position + 1 >= run.computed) select({position: 0});
  element('play').setAttribute('aria-pressed', 'true');
  element('play').textContent = '❚❚';
  walk = setInterval(() => {
    select({position: selection.position + 1});
    if (selection.position + 1 >= run.computed) stopWalk();
  }, 700);
}

// ---- Keys ---------------------------------------------------------------------------------------------------------------

const MOVES = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};  // [down, right]

// move(down, right) for the arrow keys; Home and End go to the first and the last position.
function listenToKeys(target, move) {
  target.addEventListener('keydown', event => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in MOVES) move(...MOVES[event.key]);
    else if (event.key === 'Home') select({position: 0});
    else if (event.key === 'End') select({position: run.computed - 1});
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}

function moveHead(down, right) {
  const layer = Math.min(run.attention.length - 1, Math.max(0, selection.layer + down));
  select({layer, head: Math.min(run.model.heads - 1, Math.max(0, selection.head + right))});
}

function listen() {
  element('back').addEventListener('click', () => select({position: selection.position - 1}));
  element('forth').addEventListener('click', () => select({position: selection.position + 1}));
  element('play').addEventListener('click', () => (walk === null ? startWalk() : stopWalk()));
  listenToKeys(element('text'), (down, right) => select({position: selection.position + (right || 10 * down)}));
  listenToKeys(element('heads'), moveHead);
  listenToKeys(element('map'), moveCursor);
  listenToKeys(element('lens-table'), (down, right) => select({
    position: selection.position + right,
    depth: Math.min(run.model.layers, Math.max(0, selection.depth + down)),
  }));
  document.addEventListener('keydown', event => {
    if (event.target !== document.body || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === 'ArrowLeft') select({position: selection.position - 1});
    if (event.key === 'ArrowRight') select({position: selection.position + 1});
  });
  if (run.attention.length > 0) listenToMap();
  let width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;  // a phone's address bar comes and goes
    width = window.innerWidth;
    if (run.attention.length > 0) drawMap();
    showLens();
  });
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', showAll);
}

// ---- The beginning --------------------------------------------------------------------------------------------------------

function writeWords() {
  document.documentElement.lang = run.language === 'chinese' ? 'zh' : 'en';
  document.title = 'Orrery: ' + run.model.name;
  element('title').textContent = run.model.name;
  const {model, settings} = run;
  element('facts').textContent =
      word('facts', model.layers, model.heads, model.width, model.vocabulary, run.prompt, run.tokens.length - run.prompt) +
      (settings.seed === null ? words.facts_greedy
                              : word('facts_drawn', settings.temp, settings['top-k'], settings['top-p'], settings['min-p'],
                                     settings['repeat-penalty'], settings.seed));
  for (const target of document.querySelectorAll('[data-word]')) target.textContent = words[target.dataset.word];
  for (const target of document.querySelectorAll('[data-label]')) {
    target.setAttribute('aria-label', words[target.dataset.label]);
    if (target.tagName === 'BUTTON') target.title = words[target.dataset.label];
  }
}

writeWords();
buildText();
if (run.attention.length > 0) {
  buildHeads();
  const {layer, head} = tellingHead();
  Object.assign(selection, {layer, head});
} else {
  element('attention').replaceChildren(make('h2', {}, words.attention), make('p', {}, words.no_attention));
}
selection.position = Math.min(run.prompt, run.computed) - 1;
showAll();
listen();
