// Why a card may not be given, in words that follow `gpu 1 is`.

import { formatDuration } from '../../../kernel/base/duration.ts';
import { formatInstant } from '../../../kernel/base/instant.ts';
import { formatSize } from '../../../kernel/base/size.ts';
import type { CardUser } from '../../../kernel/model/gpu.ts';
import type { SeenCard } from '../model/answer.ts';
import type { Tracked } from './state.ts';

const PROGRAM_LENGTH_MAX = 40;
const NAMELESS = 'a program without a name';

/** `ann (python, 21G, since 14:02)`. */
export function usedWords(users: readonly CardUser[]): string {
  const [first, ...more] = users;
  if (first === undefined) return 'used outside Weft';
  const { user, program, memoryBytes, since, task } = first;
  const facts = [
    program,
    ...(memoryBytes === null ? [] : [formatSize(memoryBytes)]),
    `since ${formatInstant(since)}`,
  ];
  const others = more.length === 0 ? '' : ` and ${more.length} more`;
  const who =
    task === undefined ? `outside Weft by ${user}` : `by ${task} of ${user} without asking`;
  return `used ${who} (${facts.join(', ')})${others}`;
}

export function heldWords(bytes: number): string {
  return `used outside Weft: no process on it can be seen, and ${formatSize(bytes)} of its memory is held`;
}

export function illWords(words: string): string {
  return `ill: ${words}`;
}

/** Returns null when nobody says why. */
export function goneWords(words: string | null): string {
  return `gone: ${words ?? 'its driver does not list it any more'}`;
}

export function unknownWords({ vendor }: Pick<SeenCard, 'vendor'>): string {
  return `not looked at: the tool of ${vendor} has not answered since the agent was started`;
}

/** The name without its folder, and a script's: what follows may be anybody's secret. */
export function programName(command: string): string {
  if (command.startsWith('[')) return NAMELESS;
  const [program = '', script = ''] = command.split(' ');
  const name = program.slice(program.lastIndexOf('/') + 1);
  const isScript = /^[\w./-]+\.\w+,?$/.test(script) && !script.startsWith('-');
  const words = isScript ? `${name} ${script.replace(/,$/, '').replace(/^.*\//, '')}` : name;
  return words.slice(0, PROGRAM_LENGTH_MAX) || NAMELESS;
}

/** Also when it will be given again. */
export function whyOf({ because, wellSince }: Tracked, freeAfterMs: number): string | null {
  if (because === null || wellSince === null) return because;
  const until = formatInstant(wellSince.at);
  return `${because}, until ${until}; given again ${formatDuration(freeAfterMs)} later`;
}
