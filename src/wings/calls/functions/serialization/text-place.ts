// Where the expression of a function has to stand, so that each line and column in it is the one of
// the program's file. V8 tells where a function's parameters begin, or those of a class's
// constructor.

import type { Tree } from './names.ts';

/** From the place that V8 tells back to where the expression begins. */
export interface Lead {
  readonly lines: number;
  /** Null when it begins on another line, and its first column is of no interest. */
  readonly columns: number | null;
}

/**
 * A place in a file, from 0. The column may lie before the line, when the expression has words of
 * ours.
 */
export interface FilePlace {
  readonly line: number;
  readonly column: number;
}

/** `offsetIn`: where a place of the source is in the expression. */
export function leadOf(
  { tree, source }: { readonly tree: Tree; readonly source: string },
  expression: string,
  offsetIn: (at: number) => number,
): Lead {
  const told = toldIn(tree, source);
  // The words of a class before its body may be others; what runs stands in the body.
  const mark = tree.type === 'ClassExpression' ? (tree['body'] as Tree).start : told;
  const between = source.slice(Math.min(mark, told), Math.max(mark, told));
  const before = expression.slice(0, offsetIn(mark));
  const crossed = newlinesIn(between);
  const lines = (mark <= told ? crossed : -crossed) + newlinesIn(before);
  const isOneLine = !between.includes('\n') && !before.includes('\n');
  return { lines, columns: isOneLine ? told - mark + before.length : null };
}

/** Where the expression begins. */
export function placeBefore(told: FilePlace, { lines, columns }: Lead): FilePlace {
  return { line: told.line - lines, column: columns === null ? 0 : told.column - columns };
}

/** Blank, with the same lines and columns behind it. */
export function blankOf(text: string): string {
  return text.replace(/[^\n]*\n/g, '\n').replace(/[^\n]/g, ' ');
}

/** The offset of the place that V8 tells of a function. */
function toldIn(tree: Tree, source: string): number {
  if (tree.type === 'ClassExpression') {
    const members = (tree['body'] as unknown as { body: Tree[] }).body;
    const maker = members.find((member) => member['kind'] === 'constructor');
    return (maker?.['value'] as Tree | undefined)?.start ?? tree.start;
  }
  if (tree.type === 'ArrowFunctionExpression' || source[tree.start] === '(') return tree.start;
  const id = tree['id'] as Tree | null;
  return source.indexOf('(', id?.end ?? tree.start);
}

function newlinesIn(text: string): number {
  return text.split('\n').length - 1;
}
