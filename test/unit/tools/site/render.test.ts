// Documents as pages: where their links lead, what their headings are called, what is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageText } from '../../../../tools/site/page.ts';
import { render, sectionsOf, slugOf, titleIn } from '../../../../tools/site/render.ts';

const places = new Map([
  ['docs/README.md', 'index.html'],
  ['docs/install.md', 'install.html'],
  ['docs/commands/run.md', 'commands/run.html'],
  ['GLOSSARY.md', 'glossary.html'],
]);
const titles = new Map([
  ['install.html', 'Installing'],
  ['commands/run.html', 'weft run'],
]);
const where = { places, titles };

test('links lead from page to page, and the name of a file becomes a title', () => {
  const text = '# A\n\n[install.md](../install.md#a-node) and [its words](../../GLOSSARY.md)';
  const { html, links } = render('docs/commands/run.md', text, where);
  assert.match(html, /<a href="\.\.\/install\.html#a-node">Installing<\/a>/);
  assert.match(html, /<a href="\.\.\/glossary\.html">its words<\/a>/);
  assert.deepEqual(links, [
    ['install.html', 'a-node'],
    ['glossary.html', ''],
  ]);
});

test('a link to what is no page is its words; one to elsewhere stays', () => {
  const text = '# A\n\n[deploy](../deploy) or [RFC](https://example.org/rfc)';
  const { html } = render('docs/install.md', text, where);
  assert.match(html, /<p>deploy or <a href="https:\/\/example\.org\/rfc">RFC<\/a><\/p>/);
});

test('what stands in a document is text: no element of its own, no script', () => {
  const { html } = render('docs/install.md', '# A\n\n<script>alert(1)</script>', where);
  assert.doesNotMatch(html, /<script/);
  const page = pageText('install.html', html, {
    sections: [{ name: 'Run <b>', pages: ['install.html'] }],
    titles: new Map([['install.html', '<i>']]),
    style: 's.css',
    script: 's.js',
    index: 'i.js',
    version: '1',
  });
  assert.match(page, /<title>&lt;i&gt; - Weft<\/title>/);
  assert.match(page, /<summary>Run &lt;b&gt;<\/summary>/);
});

test('headings have the names that GitHub gives them, each its own', () => {
  const { anchors, parts } = render(
    'docs/install.md',
    '# A\n\ntext\n\n## `--in`, and more\n\n## A',
    where,
  );
  assert.deepEqual([...anchors], ['a', '--in-and-more', 'a-1']);
  assert.deepEqual(
    parts.map(({ url, text }) => [url, text]),
    [
      ['install.html', 'text'],
      ['install.html#--in-and-more', ''],
      ['install.html#a-1', ''],
    ],
  );
  assert.equal(slugOf('Größe: 3 µs?'), 'größe-3-µs');
});

test('the list of documents is the menu, each page once', () => {
  const text =
    '# D\n\n## One\n\n| | |\n|---|---|\n| [a](install.md) | [b](commands/run.md), [c](install.md#x) |\n\n## Two\n\n[d](../GLOSSARY.md)';
  assert.deepEqual(sectionsOf(text, places), [
    { name: 'One', pages: ['install.html', 'commands/run.html'] },
    { name: 'Two', pages: ['glossary.html'] },
  ]);
  assert.equal(titleIn('<!-- note -->\n# The `title`\n'), 'The title');
});
