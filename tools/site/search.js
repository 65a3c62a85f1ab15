// The search field of the documents, in a browser. Its index is a script that is loaded when the field
// is first used: a page that is read from the disk may load nothing else.

import { find } from './find.ts';

const field = document.querySelector('#search');
const list = document.querySelector('#found');
const root = document.documentElement.dataset.root ?? '';
let parts = null;

function loadParts() {
  parts ??= new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = root + document.documentElement.dataset.index;
    script.addEventListener('load', () => resolve(globalThis.weftParts));
    script.addEventListener('error', reject);
    document.head.append(script);
  });
  return parts;
}

async function search() {
  const query = field.value;
  const all = await loadParts();
  // Typed on meanwhile: the newer search shows what it finds.
  if (field.value !== query) return;
  list.replaceChildren(...find(all, query).map(rowOf));
  list.hidden = query.trim() === '';
  if (!list.hidden && list.children.length === 0) list.append(rowWithout(query));
}

function rowOf({ part, words }) {
  const link = document.createElement('a');
  link.href = root + part.url;
  const title = document.createElement('strong');
  title.textContent = part.heading === part.title ? part.title : `${part.title}: ${part.heading}`;
  const text = document.createElement('span');
  text.textContent = words;
  link.append(title, text);
  const row = document.createElement('li');
  row.append(link);
  return row;
}

function rowWithout(query) {
  const row = document.createElement('li');
  row.textContent = `No page has "${query}".`;
  return row;
}

field.addEventListener('focus', loadParts, { once: true });
field.addEventListener('input', search);
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === '/' && !isTyping) {
    event.preventDefault();
    field.focus();
  }
  if (event.key === 'Escape') list.hidden = true;
});
