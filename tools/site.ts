// The documents as a site in dist/site: pages, one style, one script and an index for its search.
// It loads nothing from elsewhere, is served by the head at /docs, and can be read from the disk.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { bundle } from './bundler.ts';
import { isStampOf, stampOf } from './page.ts';
import { pageText } from './site/page.ts';
import { type Rendered, render, sectionsOf, titleIn } from './site/render.ts';
import { pagesOfSite, picturesOfSite } from './site/sources.ts';
import { filesBelow, ROOT } from './tree.ts';

const OUT = path.join(ROOT, 'dist', 'site');
const STAMP = 'sources.sha256';
const LIST = 'docs/README.md';
/** Good enough for text; the best takes ten times as long. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };

/** False: what was built from these very documents is there. Throws when a link leads nowhere. */
export async function buildSite(): Promise<boolean> {
  if (isStampOf(readIfThere(path.join(OUT, STAMP)))) return false;
  const files = await siteFiles();
  const draft = `${OUT}.${process.pid}`;
  for (const [name, bytes] of files) {
    const file = path.join(draft, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, bytes);
    if (name.endsWith('.png')) continue;
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, QUALITY));
  }
  const sources = [
    ...[...pagesOfSite().keys(), ...picturesOfSite(), ...filesBelow('tools/site')],
    ...['tools/bundler.ts', 'tools/site.ts', 'package.json', 'package-lock.json'],
  ];
  writeFileSync(path.join(draft, STAMP), stampOf(sources.sort()));
  rmSync(OUT, { recursive: true, force: true });
  renameSync(draft, OUT);
  return true;
}

/** All files of the site, by their paths in it. */
export async function siteFiles(): Promise<Map<string, Buffer>> {
  const pages = pagesOfSite();
  const pictures = picturesOfSite();
  const places = new Map([...pages, ...pictures.map(pictureAt)]);
  const texts = new Map([...pages.keys()].map((file) => [file, read(file).toString()]));
  const titles = new Map([...texts].map(([file, text]) => [places.get(file) ?? '', titleIn(text)]));
  const where = { places, titles };
  const rendered = new Map(
    [...texts].map(([file, text]) => [pages.get(file) ?? '', render(file, text, where)]),
  );
  refuseDeadLinks(rendered);
  const files = new Map(pictures.map((file) => [pictureAt(file)[1], read(file)]));
  const keep = (name: string, ending: string, bytes: Buffer): string => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
    files.set(`${name}-${hash}.${ending}`, bytes);
    return `${name}-${hash}.${ending}`;
  };
  const parts = [...rendered.values()].flatMap((one) => one.parts);
  const look = {
    sections: sectionsOf(read(LIST).toString(), places),
    titles,
    style: keep('style', 'css', read('tools/site/style.css')),
    script: keep('search', 'js', await script()),
    index: keep('index', 'js', Buffer.from(`globalThis.weftParts=${JSON.stringify(parts)};`)),
    version: (JSON.parse(read('package.json').toString()) as { version: string }).version,
  };
  for (const [page, { html }] of rendered) files.set(page, Buffer.from(pageText(page, html, look)));
  return files;
}

function pictureAt(file: string): readonly [string, string] {
  return [file, path.posix.relative('docs', file)];
}

function refuseDeadLinks(rendered: ReadonlyMap<string, Rendered>): void {
  for (const [page, { links }] of rendered) {
    for (const [to, anchor] of links) {
      if (anchor === '' || rendered.get(to)?.anchors.has(anchor) === true) continue;
      throw new Error(`the page ${page} leads to ${to}#${anchor}, and there is no such heading`);
    }
  }
}

async function script(): Promise<Buffer> {
  const { code } = await bundle({
    input: 'tools/site/search.js',
    format: 'iife',
    target: ['es2022'],
    inside: 'all',
    keeps: 'nothing',
  });
  return Buffer.from(code);
}

function read(file: string): Buffer {
  return readFileSync(path.join(ROOT, file));
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

if (import.meta.main) {
  const built = await buildSite();
  console.log(built ? 'The documents are built.' : 'The documents are up to date.');
}
