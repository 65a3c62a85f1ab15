// Rules about words that speak of the code, on pages and in comments: what they name is there, and
// each word stands once in the glossary.

import type { Finding } from './finding.ts';
import { lineAt, type Source } from './source.ts';

/** Pages from which somebody looks for a place in the code. */
const NAMING = /^(?:ARCHITECTURE|CONTRIBUTING|SPEC)\.md$|^docs\/checklists\//;
const GLOSSARY = 'GLOSSARY.md';

/** In code marks: what has a slash or ends like a file of code or a page. */
const PATH = /`((?:[\w.-]+\/)+[\w.-]*|[\w.-]+\.(?:ts|mjs|c|h|md))`/g;
/** In a comment: a file of ours with its folder; what is built is not there yet. */
const COMMENTED = /(?<![\w./-])((?:[\w-]+\/)+[\w.-]+\.tsx?)\b/g;
/** `name` in `file`. */
const NAME = /`(\w+)` in `([\w./-]+\.(?:ts|mjs|c|h))`/g;
const FENCED = /^```[\s\S]*?^```/gm;
/** Words that a reader puts something else for, as in `src/kernel/api/NOUN.ts`. */
const PLACEHOLDER = /^(?:NOUN|NAME|VERB|VERSION)\b/;

/** Checks pages (path -> text) against the paths of all files, of which `read` gives the text. */
export function checkPages(
  pages: ReadonlyMap<string, string>,
  files: readonly string[],
  read: (file: string) => string,
): Finding[] {
  const known = namesOf(files);
  const findings: Finding[] = [];
  for (const [path, text] of pages) {
    const error = (at: number, message: string) =>
      findings.push({ path, line: lineAt(text, at), level: 'error', message });
    if (path === GLOSSARY) checkWords(text, error);
    if (!NAMING.test(path)) continue;
    const prose = text.replace(FENCED, (block) => block.replace(/[^\n]/g, ' '));
    for (const { 1: named = '', index } of prose.matchAll(PATH)) {
      const place = withoutPlaceholder(named);
      if (place !== '' && !known.has(place))
        error(index, `there is no \`${named}\`; mend the path`);
    }
    for (const { 1: name = '', 2: file = '', index } of prose.matchAll(NAME)) {
      if (!files.includes(file) || new RegExp(`\\b${name}\\b`).test(read(file))) continue;
      error(index, `\`${file}\` has no \`${name}\`; mend the name`);
    }
  }
  return findings;
}

/** Checks what comments name against the paths of all files. */
export function checkComments(sources: readonly Source[], files: readonly string[]): Finding[] {
  const known = namesOf(files);
  return sources.flatMap(({ path, comments }) =>
    [...comments.matchAll(COMMENTED)].flatMap(({ 1: named = '', index }): Finding[] => {
      const place = withoutPlaceholder(named);
      if (place === '' || known.has(place)) return [];
      const message = `there is no ${named}; mend the path`;
      return [{ path, line: lineAt(comments, index), level: 'error', message }];
    }),
  );
}

type Report = (at: number, message: string) => void;

function checkWords(text: string, error: Report): void {
  const seen = new Set<string>();
  for (const { 1: word = '', index } of text.matchAll(/^\| ([^|]+?) \|/gm)) {
    if (seen.has(word)) error(index, `'${word}' stands here twice; one word has one meaning`);
    seen.add(word);
  }
}

/** Files and folders by every end of their paths: pages leave out what goes without saying. */
function namesOf(files: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const file of files) {
    const parts = file.split('/');
    for (let end = parts.length; end > 0; end -= 1) {
      for (let start = 0; start < end; start += 1) names.add(parts.slice(start, end).join('/'));
    }
  }
  return names;
}

function withoutPlaceholder(named: string): string {
  const parts = named.replace(/\/$/, '').split('/');
  const from = parts.findIndex((part) => PLACEHOLDER.test(part));
  return (from < 0 ? parts : parts.slice(0, from)).join('/');
}
