// One page of the documents: what is around its text.

import path from 'node:path';
import type { Section } from './render.ts';

export interface Look {
  readonly sections: readonly Section[];
  /** Titles of pages. */
  readonly titles: ReadonlyMap<string, string>;
  /** Names of style, script and index, as they lie in the site. */
  readonly style: string;
  readonly script: string;
  readonly index: string;
  readonly version: string;
}

/** The whole text of a page. `html`: its inside. */
export function pageText(page: string, html: string, look: Look): string {
  const root = path.posix.dirname(page) === '.' ? '' : '../';
  const title = look.titles.get(page) ?? page;
  return `<!doctype html>
<html lang="en" data-root="${root}" data-index="${look.index}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} - Weft</title>
<link rel="stylesheet" href="${root}${look.style}">
<link rel="icon" href="data:,">
<script defer src="${root}${look.script}"></script>
</head>
<body>
<a class="skip" href="#text">Skip to the text</a>
<header>
<a class="home" href="${root}index.html">Weft <small>${escaped(look.version)}</small></a>
<div class="search"><input id="search" type="search" placeholder="Search (press /)" aria-label="Search the documents" autocomplete="off"><ol id="found" hidden></ol></div>
</header>
<div class="frame">
<nav aria-label="Documents">
${look.sections
  .filter(({ pages }) => pages.length > 0)
  .map((section) => sectionText(section, { page, root, look }))
  .join('\n')}
</nav>
<main id="text">
${html}
${turnText(page, root, look)}
</main>
</div>
</body>
</html>
`;
}

interface Here {
  readonly page: string;
  readonly root: string;
  readonly look: Look;
}

function sectionText({ name, pages }: Section, { page, root, look }: Here): string {
  const folder = path.posix.dirname(page);
  const isHere = pages.includes(page) || (folder !== '.' && pages.includes(`${folder}/index.html`));
  const rows = pages.map((one) => {
    const mark = one === page ? ' aria-current="page"' : '';
    return `<li><a href="${root}${one}"${mark}>${escaped(look.titles.get(one) ?? one)}</a></li>`;
  });
  return `<details${isHere || page === 'index.html' ? ' open' : ''}><summary>${escaped(name)}</summary><ul>${rows.join('')}</ul></details>`;
}

/** The pages before and after it, in the order of the list. */
function turnText(page: string, root: string, { sections, titles }: Look): string {
  const all = sections.flatMap(({ pages }) => pages);
  const at = all.indexOf(page);
  if (at < 0) return '';
  const link = (to: string | undefined, rel: string): string =>
    to === undefined
      ? '<span></span>'
      : `<a rel="${rel}" href="${root}${to}">${escaped(titles.get(to) ?? to)}</a>`;
  return `<footer>${link(all[at - 1], 'prev')}${link(all[at + 1], 'next')}</footer>`;
}

export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
