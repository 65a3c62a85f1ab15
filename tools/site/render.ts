// A document in Markdown as the inside of a page: its links lead within the site, its headings have
// names, and its parts are what the search looks through.

import path from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import type { Part } from './find.ts';

/** Where documents and pictures lie in the site, by their paths in the repository. */
export type Places = ReadonlyMap<string, string>;

export interface Where {
  readonly places: Places;
  /** Titles of pages, by their places. */
  readonly titles: ReadonlyMap<string, string>;
}

export interface Rendered {
  readonly html: string;
  readonly parts: readonly Part[];
  /** Names of its headings. */
  readonly anchors: ReadonlySet<string>;
  /** Where it leads within the site: page and name of a heading. */
  readonly links: readonly (readonly [page: string, anchor: string])[];
}

const markdown = new MarkdownIt({ html: false, linkify: false, typographer: false });

/** Throws when a link leads to a document that is no page and does not exist in the package. */
export function render(file: string, text: string, where: Where): Rendered {
  const page = where.places.get(file) ?? '';
  const tokens = markdown.parse(withoutComments(text), {});
  const links: (readonly [string, string])[] = [];
  for (const token of tokens) {
    if (token.type !== 'inline') continue;
    for (const child of token.children ?? []) relink(child, { ...where, file, page, links });
    token.children = named(withoutDeadLinks(token.children ?? []));
  }
  const anchors = nameHeadings(tokens);
  const parts = partsOf(tokens, page);
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return {
    html: html
      .replace(/<table>/g, '<div class="wide"><table>')
      .replace(/<\/table>/g, '</table></div>'),
    parts,
    anchors,
    links,
  };
}

/** Notes to those who write the documents. */
function withoutComments(text: string): string {
  return text.replace(/^<!--[\s\S]*?-->$/gm, '');
}

/** The first heading of a document. */
export function titleIn(text: string): string {
  const tokens = markdown.parse(withoutComments(text), {});
  return textOf(tokens[tokens.findIndex(({ type }) => type === 'heading_open') + 1]);
}

interface From extends Where {
  readonly file: string;
  readonly page: string;
  readonly links: (readonly [string, string])[];
}

function relink(token: Token, { file, page, places, titles, links }: From): void {
  const name = token.type === 'image' ? 'src' : 'href';
  const target = attributeOf(token, name);
  if (target === null || /^[a-z]+:/.test(target)) return;
  const [to = '', anchor = ''] = target.split('#');
  const other = to === '' ? file : path.posix.join(path.posix.dirname(file), decodeURI(to));
  const place = places.get(other) ?? places.get(`${other.replace(/\/$/, '')}/README.md`);
  if (place === undefined) {
    token.attrSet(name, '');
    token.meta = { dead: other };
    return;
  }
  links.push([place, anchor]);
  token.meta = { title: titles.get(place) };
  const relative = path.posix.relative(path.posix.dirname(page), place);
  token.attrSet(name, anchor === '' ? relative : `${to === '' ? '' : relative}#${anchor}`);
}

/** A link to a file that the site does not have is only its words. */
function withoutDeadLinks(tokens: readonly Token[]): Token[] {
  const open: boolean[] = [];
  return tokens.filter((token) => {
    if (token.type === 'link_open') open.push(token.meta?.dead !== undefined);
    if (token.type === 'link_open') return open.at(-1) === false;
    return token.type === 'link_close' ? open.pop() === false : true;
  });
}

function attributeOf(token: Token, name: string): string | null {
  const value = token.attrGet(name);
  return value === null ? null : String(value);
}

/** On the site the name of a file says less than what it is about. */
function named(tokens: readonly Token[]): Token[] {
  for (const [at, { type, meta }] of tokens.entries()) {
    const inside = tokens[at + 1];
    if (type !== 'link_open' || inside === undefined || !/^[\w/-]+\.md$/.test(inside.content))
      continue;
    inside.content = String(meta?.['title'] ?? inside.content);
    inside.type = 'text';
  }
  return [...tokens];
}

/** Gives headings the names that GitHub gives them, which links of the documents have. */
function nameHeadings(tokens: readonly Token[]): Set<string> {
  const names = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const base = slugOf(textOf(tokens[at + 1]));
    let name = base;
    for (let nth = 1; names.has(name); nth += 1) name = `${base}-${nth}`;
    names.add(name);
    token.attrSet('id', name);
  }
  return names;
}

export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function partsOf(tokens: readonly Token[], page: string): Part[] {
  const parts: { heading: string; anchor: string; text: string[] }[] = [];
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      parts.push({
        heading: textOf(tokens[at + 1]),
        anchor: attributeOf(token, 'id') ?? '',
        text: [],
      });
    } else if (tokens[at - 1]?.type !== 'heading_open') parts.at(-1)?.text.push(textOf(token));
  }
  const title = parts[0]?.heading ?? page;
  return parts.map(({ heading, anchor, text }, nth) => {
    const url = nth === 0 ? page : `${page}#${anchor}`;
    return { url, title, heading, text: text.join(' ').replace(/\s+/g, ' ').trim() };
  });
}

function textOf(token: Token | undefined): string {
  if (token === undefined) return '';
  if (token.type === 'fence' || token.type === 'code_block') return token.content;
  if (token.type !== 'inline') return '';
  return (token.children ?? [])
    .map(({ type, content }) => (/break$/.test(type) ? ' ' : content))
    .join('');
}

/** A section of the list of documents, with the pages that it names. */
export interface Section {
  readonly name: string;
  readonly pages: readonly string[];
}

/** From `docs/README.md`: each page where it is named first. */
export function sectionsOf(text: string, places: Places): Section[] {
  const seen = new Set<string>();
  const sections: { name: string; pages: string[] }[] = [];
  const tokens = markdown.parse(text, {});
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'heading_open' && token.tag === 'h2')
      sections.push({ name: textOf(tokens[at + 1]), pages: [] });
    for (const child of token.children ?? []) {
      const target = child.type === 'link_open' ? attributeOf(child, 'href') : null;
      const page = target === null ? undefined : placeOf(target, places);
      if (page === undefined || seen.has(page)) continue;
      seen.add(page);
      sections.at(-1)?.pages.push(page);
    }
  }
  return sections;
}

function placeOf(target: string, places: Places): string | undefined {
  return places.get(path.posix.join('docs', target.split('#')[0] ?? ''));
}
