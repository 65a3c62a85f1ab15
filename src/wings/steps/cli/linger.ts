// How long a step goes on when the line to whoever started it is lost.

import { parseDuration } from '../../../kernel/base/duration.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { LINGER_MS_MAX, LINGER_MS_MIN } from '../core/limits.ts';

interface Options {
  option(flags: string, words: string): unknown;
}

export function defineLinger(command: Options): void {
  const words = 'how long it goes on when the line to you is lost: 1s to 4d (default: 1m)';
  command.option('--linger <time>', words);
}

export function readLinger(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms.ok && ms.value >= LINGER_MS_MIN && ms.value <= LINGER_MS_MAX) return ms.value;
  throw usage(`--linger: '${text}' is no time from 1s to 4d`);
}
