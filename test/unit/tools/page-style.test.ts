// The short form of the page's style.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shortened, shortStyle } from '../../../tools/page-style.ts';

test('comments and needless blanks go, strings and what separates names stay', () => {
  const style = `/* A "word" of it's own. */
.a > .b,
.c:hover .d {
  content: "  /* two  blanks; */ { ";
  margin: 0 auto; /* the end */
  width: calc(1px + 2px);
}
@media (max-width: 10px) {
  .a::before { content: 'x\\' y'; }
}
`;
  const short = String.raw`.a > .b,.c:hover .d{content:"  /* two  blanks; */ { ";margin:0 auto;width:calc(1px + 2px)}@media (max-width: 10px){.a::before{content:'x\' y'}}`;
  assert.equal(shortened(style), short);
});

test('what a style imports stands in front of it', () => {
  const { text, inputs } = shortStyle('src/kernel/page/style.css');
  assert.deepEqual(inputs, ['src/kernel/page/style.css', 'node_modules/uplot/dist/uPlot.min.css']);
  assert.match(text, /^\.uplot/);
  assert.doesNotMatch(text, /@import|\/\*/);
});
