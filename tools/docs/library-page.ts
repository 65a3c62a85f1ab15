// docs/api/library.md: every public name of the library with its comments, as they stand in the
// source.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { FIELD_ROWS } from '../../src/kernel/model/options/table.ts';
import { filesBelow, ROOT } from '../tree.ts';

const FACE = 'src/library.ts';
const EXPORTS = /export (type )?\{([^}]*)\} from '([^']+)';/g;
/** Files of wings that add methods to a class of the kernel. */
const ADDITIONS = /^import '([^']+)';/gm;

interface Shown {
  readonly name: string;
  /** Declarations without bodies. */
  readonly text: string;
  /** The first sentence, for the list. */
  readonly summary: string;
}

/** The page, made from the sources. Throws when a public name says nothing of itself. */
export function libraryPage(): string {
  const shown = publicNames().map(({ name, file, own }) => show(name, declaration(file, own)));
  const list = shown.map(({ name, summary }) => {
    return `| [\`${name}\`](#${name.toLowerCase()}) | ${summary.replaceAll('|', '\\|')} |`;
  });
  const parts = shown.map(({ name, text }) => `## ${name}\n\n\`\`\`ts\n${text}\n\`\`\``);
  const head = '# Names of the library\n\n[library.md](../library.md) is the tutorial.';
  return `${[head, ['| name | what it is |', '|---|---|', ...list].join('\n'), ...parts].join('\n\n')}\n`;
}

function publicNames() {
  const found = [...read(FACE).matchAll(EXPORTS)].flatMap(([, , names = '', from = '']) =>
    names.split(',').flatMap((entry) => {
      const words = entry.replace(/\btype /, '').trim();
      if (words === '') return [];
      const [own = '', name = own] = words.split(' as ');
      return [{ name, own, file: path.join(path.dirname(FACE), from) }];
    }),
  );
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The lines of a declaration, its comment first. */
function declaration(file: string, name: string): string[] {
  const lines = read(file).split('\n');
  const kinds = '(?:abstract )?(?:class|interface|type|(?:async )?function|const)';
  const start = lines.findIndex((line) => new RegExp(`^export ${kinds} ${name}\\b`).test(line));
  if (start === -1) throw new Error(`${file} declares no ${name}`);
  let from = start;
  while (from > 0 && /^( \*|\/\*\*|\/\/ biome)/.test(lines[from - 1] ?? '')) from -= 1;
  if (!(lines[from] ?? '').startsWith('/**')) throw new Error(`${file}: ${name} has no comment`);
  const end = declarationEndOf(lines, start);
  const own = lines.slice(from, end).flatMap(withJobOptions);
  return [...own, ...addedTo(name), ...lines.slice(end, end + 1)];
}

const FROM_TABLE = ' extends ProgramOptions {';

/** The options that the type takes from the table of job options, each with its comment there. */
function withJobOptions(line: string): string[] {
  if (!line.endsWith(FROM_TABLE)) return [line.replace(/\bPoolOption\b/, poolOptions)];
  const comments = optionComments();
  const rows = FIELD_ROWS.flatMap(({ name, type }) => {
    const comment = comments.get(name);
    if (comment === undefined) throw new Error(`the job option ${name} has no comment`);
    return [...comment.split('\n'), `  readonly ${name}?: ${type.program};`];
  });
  return [line.replace(FROM_TABLE, ' {'), ...rows];
}

/** The options that a worker of a pool has in common with a job. */
function poolOptions(): string {
  return FIELD_ROWS.flatMap(({ name, pool }) => (pool ? [`'${name}'`] : [])).join(' | ');
}

const OPTION = /^( {2}\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n {2}(\w+): \{$/gm;

function optionComments(): ReadonlyMap<string, string> {
  const texts = filesBelow('src/kernel/model/options').map(read);
  return new Map(
    texts.flatMap((text) =>
      [...text.matchAll(OPTION)].map(([, comment = '', name = '']) => [name, comment] as const),
    ),
  );
}

/** Members that wings declare on it, from their `declare module`. */
function addedTo(name: string): string[] {
  return [...read(FACE).matchAll(ADDITIONS)].flatMap(([, from = '']) => {
    const lines = read(path.join(path.dirname(FACE), from)).split('\n');
    const start = lines.indexOf(`  interface ${name}Methods {`);
    if (start === -1) return [];
    const members = lines.slice(start + 1, lines.indexOf('  }', start));
    return ['', ...members.map((line) => line.replace(/^ {2}/, ''))];
  });
}

function read(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** A declaration ends with a line that is no deeper than it and closes it. */
function declarationEndOf(lines: readonly string[], start: number): number {
  for (let at = start; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (/^(\}|\) *;|.*;$)/.test(line) && (at > start || /[;}]$/.test(line)) && !/^\s/.test(line)) {
      return at;
    }
    if (/;$/.test(line) && /^ {2}[|'"]/.test(line)) return at;
  }
  return lines.length - 1;
}

function show(name: string, lines: readonly string[]): Shown {
  const text = withoutBodies(lines.filter((line) => !/^\s*\/\/ biome/.test(line))).join('\n');
  const comment = /\/\*\*([\s\S]*?)\*\//.exec(text)?.[1] ?? '';
  const words = comment.replace(/\n?\s*\* ?/g, ' ').trim();
  return {
    name,
    text,
    summary: /^[\s\S]*?(?:[.:](?= |$)|$)/.exec(words)?.[0].replace(/:$/, '.') ?? '',
  };
}

/** Classes and functions as a program sees them: no private members, no bodies. */
function withoutBodies(lines: readonly string[]): string[] {
  const kept: string[] = [];
  const constant = lines.findIndex((line) => line.startsWith('export const '));
  if (constant !== -1) {
    return [...lines.slice(0, constant), (lines[constant] ?? '').replace(/ = .*$/, ';')];
  }
  const isClass = lines.some((line) => /^export (abstract )?class /.test(line));
  const isFunction = lines.some((line) => /^export (async )?function /.test(line));
  if (!isClass && !isFunction) return [...lines];
  const body = isClass ? '  ' : '';
  let pending: string[] = [];
  let inside = false;
  const overloaded = new Set<string>();
  for (const line of lines) {
    if (inside) {
      inside = line !== `${body}}`;
      continue;
    }
    pending.push(line);
    const isHead = /^export .* class |^export class /.test(line);
    if (isClass && (isHead || line === '}')) {
      kept.push(...pending);
      pending = [];
      continue;
    }
    if (!line.startsWith(body) || /^\s*(\/\*\*|\*)/.test(line)) continue;
    const isMember = line.startsWith(body) && !/^\s{3,}/.test(line.slice(isClass ? 0 : -0));
    const opens = line.endsWith('{') && isMember;
    const closes = line.endsWith(';') && isMember;
    if (!opens && !closes) continue;
    const isPrivate = pending.some((one) =>
      /^ {2}(async )?#|^ {2}(readonly )?#|^ {2}constructor\b|^ {2}static /.test(one),
    );
    const name = /^ *(?:async )?(\w+)[<(]/.exec(
      pending.find((one) => !/^\s*(\/\*\*|\*|$)/.test(one)) ?? '',
    )?.[1];
    // What overloads have said of it is all that programs see.
    const isImplementation = opens && name !== undefined && overloaded.has(name);
    if (closes && name !== undefined) overloaded.add(name);
    if (!isPrivate && !isImplementation) {
      kept.push(...pending.slice(0, -1), line.replace(/ \{$/, ';'));
    }
    pending = [];
    inside = opens;
  }
  return kept;
}
