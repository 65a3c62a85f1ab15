// The style of the web page in one file, without what only people need who read it.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './tree.ts';

/** Strings, in which blanks count, and comments. */
const APART = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\/\*.*?\*\/)/gs;
const IMPORT = /@import "([^"]+)";/g;

export interface Style {
  readonly text: string;
  /** All files of it, from the top of the repository. */
  readonly inputs: readonly string[];
}

/** For a file from the top of the repository; what it imports stands in front of the rest. */
export function shortStyle(file: string): Style {
  const inputs = [file];
  const text = readFileSync(path.join(ROOT, file), 'utf8').replace(IMPORT, (_, other: string) => {
    const imported = shortStyle(path.join(path.dirname(file), other));
    inputs.push(...imported.inputs);
    return imported.text;
  });
  return { text: shortened(text), inputs };
}

/** Without comments and needless blanks. */
export function shortened(style: string): string {
  const strings = style.replace(APART, (part) => (part.startsWith('/*') ? '' : part));
  const parts = strings.split(APART);
  const short = parts.map((part, at) => (at % 2 === 1 ? part : withoutBlanks(part)));
  return short.join('').trim();
}

function withoutBlanks(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};,]) ?/g, '$1')
    .replace(/([{;][\w-]+): /g, '$1:')
    .replace(/;\}/g, '}');
}
