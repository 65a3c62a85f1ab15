// The imports of a file, static, dynamic and of types, and the rules about them: the table, and
// which packages a folder must do without.

import path from 'node:path/posix';
import type { Finding } from './finding.ts';
import { allowedText, layerOf, mayImport, PACKAGE_BANS, roomAbove } from './layers.ts';
import { lineAt, type Source } from './source.ts';

/** One import as written. */
export interface Import {
  readonly specifier: string;
  readonly line: number;
}

// Each ends at the opening quote of the specifier. Clauses never hold a quote, so [^'"] is safe.
const FORMS = [
  /^[ \t]*(?:import|export)\s+(?:type\s+)?(?:[\w$]+\s*,?\s*)?(?:\*(?:\s*as\s+[\w$]+)?|\{[^}'"]*\})?\s*from\s*(?=['"])/gm,
  /^[ \t]*import\s*(?=['"])/gm,
  /\bimport\s*\(\s*(?=['"])/g,
];

/** All imports and re-exports of a file, in no particular order. */
export function importsOf(source: Source): Import[] {
  return FORMS.flatMap((form) =>
    [...source.code.matchAll(form)].map((match) => {
      const open = match.index + match[0].length;
      const close = source.code.indexOf(source.code[open] ?? '', open + 1);
      return { specifier: source.text.slice(open + 1, close), line: lineAt(source.text, open) };
    }),
  );
}

/** The file an import means, from the top of the repository; undefined for a package. */
export function targetOf(source: Source, specifier: string): string | undefined {
  return specifier.startsWith('.') ? path.join(path.dirname(source.path), specifier) : undefined;
}

/** Checks the imports of one file against the table. */
export function checkImports(source: Source): Finding[] {
  const from = layerOf(source.path);
  if (from === undefined) {
    return source.path.startsWith('src/')
      ? [error(source, 1, 'is in no folder of the layout; move it, or add a row to layers.ts')]
      : [];
  }
  return importsOf(source).flatMap((found) => {
    const message = problemOf(source, from, found.specifier);
    return message === undefined ? [] : [error(source, found.line, message)];
  });
}

function problemOf(source: Source, from: string, specifier: string): string | undefined {
  const target = targetOf(source, specifier);
  if (target === undefined) return packageProblem(from, specifier);
  const to = layerOf(target);
  if (to === from) {
    const above = roomAbove(from, source.path, target);
    return above === null ? undefined : `imports the room '${above}', which lies above its own`;
  }
  if (to === undefined || mayImport(from, to)) return undefined;
  return `${from} may not import ${to} (it may import ${allowedText(from)}); take it as an argument, or move the shared part down`;
}

function packageProblem(from: string, specifier: string): string | undefined {
  const ban = PACKAGE_BANS.find(([layer, pattern]) =>
    layer.endsWith('/')
      ? from.startsWith(layer) && pattern.test(specifier)
      : from === layer && pattern.test(specifier),
  );
  return ban && `${from} may not import '${specifier}': ${ban[2]}`;
}

function error(source: Source, line: number, message: string): Finding {
  return { path: source.path, line, level: 'error', message };
}
