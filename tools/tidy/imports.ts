// The imports of a file, static, dynamic and of types, and the rules about them: the table,
// which houses know each other, and which packages a layer must do without.

import path from 'node:path/posix';
import type { Finding } from './finding.ts';
import { type Houses, houseProblem, isList, listProblem, wingOfList } from './houses.ts';
import {
  allowedText,
  type LayerPlace,
  mayImport,
  PACKAGE_BANS,
  placeOf,
  roomAbove,
} from './layers.ts';
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

/** Checks the imports of one file against the table, and against what its wing needs. */
export function checkImports(source: Source, houses: Houses): Finding[] {
  const from = placeOf(source.path);
  const wing = wingOfList(source.path);
  if (wing !== undefined) return checkWingList(source, wing, houses);
  if (from === undefined) {
    return source.path.startsWith('src/') && !isList(source.path)
      ? [error(source, 1, 'is in no folder of the layout; move it, or add a row to layers.ts')]
      : [];
  }
  return importsOf(source).flatMap((found) => {
    const message = problemOf(source, from, found.specifier, houses);
    return message === undefined ? [] : [error(source, found.line, message)];
  });
}

/** A wing's own list may import all layers of its wing, and what its wing needs. */
function checkWingList(source: Source, wing: string, houses: Houses): Finding[] {
  return importsOf(source).flatMap(({ specifier, line }) => {
    const target = targetOf(source, specifier);
    const to = target === undefined ? undefined : placeOf(target);
    const message = to && houseProblem(wing, to.house, houses);
    return message === undefined ? [] : [error(source, line, message)];
  });
}

function problemOf(
  source: Source,
  from: LayerPlace,
  specifier: string,
  houses: Houses,
): string | undefined {
  const target = targetOf(source, specifier);
  if (target === undefined) return packageProblem(from.layer, specifier);
  const to = placeOf(target);
  if (to === undefined) return listProblem(from.house, target);
  if (!mayImport(from.layer, to.layer)) {
    return `${from.layer} may not import ${to.layer} (it may import ${allowedText(from.layer)}); take it as an argument, or move the shared part down`;
  }
  const above = roomAbove(source.path, target);
  if (above !== null) return `imports the room '${above}', which lies above its own`;
  return houseProblem(from.house, to.house, houses);
}

function packageProblem(layer: string, specifier: string): string | undefined {
  const ban = PACKAGE_BANS.find(([name, pattern]) => layer === name && pattern.test(specifier));
  return ban && `${layer} may not import '${specifier}': ${ban[2]}`;
}

function error(source: Source, line: number, message: string): Finding {
  return { path: source.path, line, level: 'error', message };
}
