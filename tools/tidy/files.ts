// Rules about a file as a whole: its name, its first lines, its size, and that it is no barrel.

import path from 'node:path/posix';
import type { Finding } from './finding.ts';
import { lineAt, type Source } from './source.ts';

/** The one file that may only gather the exports of others: the public face of the package. */
const PUBLIC_FACE = 'src/library.ts';
const LINES_MAX = 300;
const COLUMNS_MAX = 100;

/** Checks one file's name, head, length, width and kind. */
export function checkFile(source: Source): Finding[] {
  return [
    ...checkName(source),
    ...checkOpening(source),
    ...checkBarrel(source),
    ...checkLength(source),
    ...checkWidth(source),
  ];
}

/** What a compiler has left beside its source: it ages there, and is taken for the source. */
export function checkBuilt(files: readonly string[]): Finding[] {
  const all = new Set(files);
  return files
    .filter((file) => /\.(?:js|d\.ts)$/.test(file) && all.has(sourceOf(file)))
    .map((file) => {
      const message = `built from ${sourceOf(file)}: remove it; dist/ is for what is built`;
      return { path: file, line: 1, level: 'error', message };
    });
}

function sourceOf(built: string): string {
  return built.replace(/\.(?:js|d\.ts)$/, '.ts');
}

function checkName(source: Source): Finding[] {
  const name = path.basename(source.path);
  const good = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.test)?\.ts$/.test(name);
  return good ? [] : [finding(source, 1, 'error', `name it in kebab-case: ${kebab(name)}`)];
}

function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/_/g, '-')
    .toLowerCase();
}

function checkOpening(source: Source): Finding[] {
  const opening = source.text.replace(/^#![^\n]*\n/, '');
  if (/^\/[/*]/.test(opening)) return [];
  return [finding(source, 1, 'error', 'begin with one to three comment lines: what lives here')];
}

function checkBarrel(source: Source): Finding[] {
  if (source.path === PUBLIC_FACE) return [];
  const remedy = 'import from the file that has it';
  if (path.basename(source.path) === 'index.ts') {
    return [
      finding(source, 1, 'error', `a barrel file; name it for its main export and ${remedy}`),
    ];
  }
  const star = /^[ \t]*export\s+(?:type\s+)?\*/m.exec(source.code);
  if (star) {
    const line = lineAt(source.text, star.index + star[0].length - 1);
    return [finding(source, line, 'error', `no \`export *\`; ${remedy}`)];
  }
  const reexport = /^[ \t]*export\s+(?:type\s+)?\{[^}]*\}\s*from\s*['"]\s*['"]\s*;?/gm;
  const rest = source.code.replace(reexport, '').trim();
  if (rest !== '' || source.code.trim() === '') return [];
  return [finding(source, 1, 'error', `a barrel file: it only re-exports; ${remedy}`)];
}

function checkLength(source: Source): Finding[] {
  const lines = source.text.trimEnd().split('\n').length;
  if (lines <= LINES_MAX) return [];
  return [finding(source, lines, 'warning', `${lines} lines; see whether it is two things`)];
}

/** The formatter breaks code; comments it leaves alone. */
function checkWidth(source: Source): Finding[] {
  return source.comments.split('\n').flatMap((text, index) => {
    const width = text.trimEnd().length;
    if (width <= COLUMNS_MAX || text.includes('://')) return [];
    const message = `${width} columns; break the comment after ${COLUMNS_MAX}`;
    return [finding(source, index + 1, 'error', message)];
  });
}

function finding(source: Source, line: number, level: Finding['level'], message: string): Finding {
  return { path: source.path, line, level, message };
}
