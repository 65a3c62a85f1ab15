// Which documents become pages of the site, and where each lies in it.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { filesBelow, ROOT } from '../tree.ts';

/** For who works on Weft itself: not in the package either. */
const LEFT_OUT = /^docs\/checklists\//;

/** Documents outside of `docs/`, by the names that their pages have. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'readme.html',
  'GLOSSARY.md': 'glossary.html',
  'ARCHITECTURE.md': 'architecture.html',
  'SPEC.md': 'spec.html',
  'CHANGELOG.md': 'changelog.html',
  'CONTRIBUTING.md': 'contributing.html',
  'SECURITY.md': 'security.html',
  'bench/RESULTS.md': 'results.html',
  'bench/PROFILES.md': 'profiles.html',
  'launcher/README.md': 'launcher.html',
};

/** Pages by their documents, both as paths: from the top of the repository, and of the site. */
export function pagesOfSite(): ReadonlyMap<string, string> {
  const pages = new Map<string, string>();
  for (const file of filesBelow('docs', '.md')) {
    if (!LEFT_OUT.test(file)) pages.set(file, pageOf(path.posix.relative('docs', file)));
  }
  for (const [file, page] of Object.entries(ELSEWHERE)) {
    if (existsSync(path.join(ROOT, file))) pages.set(file, page);
  }
  for (const file of filesBelow('examples', 'README.md')) pages.set(file, exampleOf(file));
  return pages;
}

/** A folder's README is its index. */
function pageOf(file: string): string {
  return file.replace(/README\.md$/, 'index.html').replace(/\.md$/, '.html');
}

/** Pages lie at most one folder deep, which is what the head serves. */
function exampleOf(file: string): string {
  const name = path.posix.dirname(path.posix.relative('examples', file)).replaceAll('/', '-');
  return name === '.' ? 'examples/index.html' : `examples/${name}.html`;
}

export function picturesOfSite(): readonly string[] {
  return filesBelow('docs/pictures').filter((file) => /\.(svg|png)$/.test(file));
}
