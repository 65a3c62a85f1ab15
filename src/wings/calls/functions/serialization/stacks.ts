// Stacks of errors from workers, in the lines that the program's author wrote.

import { findSourceMap } from 'node:module';

const PLACE = /((?:file:\/\/)?\/[^\s():]+):(\d+):(\d+)/g;

/** The same stack by source maps, when Node was told to heed them for this process. */
export function mappedStack(stack: string): string {
  if (process.sourceMapsEnabled !== true) return stack;
  return stack.replace(PLACE, (all: string, file: string, line: string, column: string) => {
    const entry = findSourceMap(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (entry === undefined || !('originalSource' in entry)) return all;
    const { originalSource, originalLine, originalColumn } = entry;
    return `${originalSource}:${originalLine + 1}:${originalColumn + 1}`;
  });
}
