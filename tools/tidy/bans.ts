// Words that must not stand in the code, each with what to write instead. Patterns look at one view
// of a file, so that a string or a comment never trips a rule about code.

import type { Finding } from './finding.ts';
import { PURE, placeOf } from './layers.ts';
import { lineAt, type Source } from './source.ts';

interface Ban {
  readonly view: 'code' | 'comments' | 'text';
  readonly pattern: RegExp;
  readonly message: string;
  /** Holds for these layers; everywhere when absent. */
  readonly layers?: readonly string[];
}

const BANS: readonly Ban[] = [
  ban('code', /\bDate\s*\.\s*now\b/g, 'core reads no clock; take `now` as an argument', PURE),
  ban('code', /\bnew\s+Date\b/g, 'core reads no clock; take the instant in ms', PURE),
  ban('code', /\bMath\s*\.\s*random\b/g, 'core rolls no die; take the number or id', PURE),
  ban(
    'code',
    /\basync\b/g,
    'core never waits; return events or effects and let a shell wait',
    PURE,
  ),
  ban('code', /\bawait\b/g, 'core never waits; let the shell await and pass the value in', PURE),
  ban('code', /\bPromise\b/g, 'core never waits; return the value itself', PURE),
  ban(
    'comments',
    /\b(?:TODO|FIXME)\b(?!\s*\(?#\d+)/g,
    'an open end needs an issue: write it as `TODO(#12)`, or do it now',
  ),
  ban(
    'comments',
    /(?:\/\*\*\s+(?:\*\s+)?|(?<![\s\S])\/\/ )(?:Of|As)\b/g,
    'begin with what the thing is: `Size of …`, not `Of …`; `Like …`, not `As …`',
  ),
  ban('comments', /@ts-(?:ignore|nocheck)\b/g, 'mend the type instead, or narrow with a check'),
  ban(
    'comments',
    /\bbiome-ignore\b(?![^\n]*:\s*\S)/g,
    'say after a colon why the rule is wrong here',
  ),
  ban('code', /\bas\s+any\b/g, '`any` switches the checks off; use `unknown` and narrow it'),
  ban('code', /\.only\s*\(/g, '`.only` silences every other test; remove it'),
  ban('code', /\.skip\s*\(/g, 'a skipped test proves nothing; mend it, or pass {skip: reason}'),
  ban(
    'text',
    /\bregistry\.(?:npmjs|yarnpkg)\.|\b(?:deb|archive)\.(?:debian|ubuntu)\./g,
    'no download host by name; the machine decides where packages come from',
  ),
  ban(
    'code',
    /(?:,\s*|\{\s+)\.\.\.\{/g,
    'a spread literal is not checked for unknown properties; write them in place',
  ),
  ban('code', /\benum\s+[A-Z]/g, 'not erasable; use a union of string literals'),
];

// Users that examples may speak of.
const EXAMPLE_HOME = /^(?:alice|bob|carol|user|weft|me|you|lab|shared|[A-Z$<{].*)$/;
const HOME = /(?<![\w.$}])\/(?:home|Users)\/([^\s/'"`:;,)\]]+)/g;

/** Checks one file against all bans. */
export function checkBans(source: Source): Finding[] {
  const layer = placeOf(source.path)?.layer ?? '';
  const found = BANS.filter(({ layers }) => layers?.includes(layer) ?? true).flatMap((rule) =>
    [...source[rule.view].matchAll(rule.pattern)].map((match) =>
      error(source, match.index, `\`${match[0].trim()}\`: ${rule.message}`),
    ),
  );
  return [...found, ...checkHttp(source), ...checkHomes(source), ...checkCatches(source)];
}

/**
 * Programs are started often, and a WebSocket client of Node's own is two thirds of such a start.
 */
function checkHttp(source: Source): Finding[] {
  if (!source.path.startsWith('src/')) return [];
  const message =
    "an import of node:http loads a WebSocket client; use `process.getBuiltinModule('node:http')`";
  return [...source.text.matchAll(/^import (?!type\b)[^;]* from 'node:http';/gm)].map((match) =>
    error(source, match.index, message),
  );
}

function checkHomes(source: Source): Finding[] {
  return [...source.text.matchAll(HOME)]
    .filter((match) => !EXAMPLE_HOME.test(match[1] ?? ''))
    .map((match) =>
      error(source, match.index, `\`${match[0]}\` is the home of one machine; ask os`),
    );
}

function checkCatches(source: Source): Finding[] {
  const empty = [...source.code.matchAll(/\bcatch\s*(?:\([^)]*\))?\s*\{(\s*)\}/g)];
  return empty
    .filter((match) => {
      const end = match.index + match[0].length;
      return source.comments.slice(match.index, end).trim() === '';
    })
    .map((match) =>
      error(source, match.index, 'a swallowed error; handle it, or say in the block why not'),
    );
}

function error(source: Source, position: number, message: string): Finding {
  const line = lineAt(source.text, position);
  return { path: source.path, line, level: 'error', message };
}

function ban(view: Ban['view'], pattern: RegExp, message: string, layers?: readonly string[]): Ban {
  return { view, pattern, message, ...(layers && { layers }) };
}
