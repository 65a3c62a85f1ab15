// What the `#SBATCH` lines of a script would be as `#WEFT` lines: nobody has to look it up, and what has
// no equal here is named.

import { formatDuration } from '../../base/duration.ts';
import { quoteWord } from '../../base/shell-word.ts';
import { splitWords } from './words.ts';

export interface SlurmWords {
  /** `--cpus 4 --time 10m`. */
  readonly same: string;
  /** Options of the lines without an equal. */
  readonly other: readonly string[];
}

type Reader = (value: string) => string | null;

const asIs: Reader = (value) => value;
const count: Reader = (value) => (/^[1-9]\d*$/.test(value) ? value : null);

/** Our option for each of theirs, and its value; null: it says something else here. */
const EQUALS: Readonly<Record<string, readonly [ours: string, read: Reader]>> = {
  '--job-name': ['--name', asIs],
  '--nodes': ['--nodes', count],
  '--cpus-per-task': ['--cpus', count],
  '--mem': ['--memory', memory],
  '--time': ['--time', time],
  '--array': ['--array', asIs],
  '--partition': ['--partition', asIs],
  '--qos': ['--qos', asIs],
  '--gres': ['--gpus', gpus],
  '--gpus-per-node': ['--gpus', count],
  '--chdir': ['--chdir', asIs],
  '--nice': ['--nice', asIs],
};
const LONG: Readonly<Record<string, string>> = {
  ...{ '-J': '--job-name', '-N': '--nodes', '-c': '--cpus-per-task', '-t': '--time' },
  ...{ '-a': '--array', '-p': '--partition', '-q': '--qos', '-D': '--chdir' },
};
/** They stand alone, and mean the same here. */
const ALONE: ReadonlySet<string> = new Set(['--exclusive', '--hold']);

/** All `#SBATCH` lines of a script, before and behind its first command. */
export function slurmWords(text: string): SlurmWords {
  const same: string[] = [];
  const other: string[] = [];
  for (const line of text.split('\n')) {
    const options = /^#SBATCH\s+(.*)$/.exec(line)?.[1];
    const words = options === undefined ? null : splitWords(options);
    if (words === null) continue;
    const read = words.ok ? oneLine(words.value.map((word) => word.text)) : null;
    if (read === null) other.push((options as string).trim());
    else same.push(...read);
  }
  return { same: same.join(' '), other };
}

function oneLine([first = '', second, ...more]: readonly string[]): string[] | null {
  if (more.length > 0) return null;
  if (second === undefined && ALONE.has(first)) return [first];
  const [, short, rest] = /^(-[A-Za-z])(.+)$/.exec(first) ?? [];
  const [flag = '', joined] = short === undefined ? first.split(/=(.*)/s) : [short, rest];
  const known = EQUALS[LONG[flag] ?? flag];
  const value = joined ?? second;
  if (known === undefined || value === undefined) return null;
  const read = known[1](value);
  return read === null ? null : [known[0], quoteWord(read)];
}

/** MiB where no unit stands. */
function memory(value: string): string | null {
  const [, amount, unit = 'M'] = /^([1-9]\d*)([KMGT])?B?$/i.exec(value) ?? [];
  return amount === undefined ? null : `${amount}${unit.toUpperCase()}`;
}

/** `10` minutes, `10:00`, `1:00:00`, `1-12`, `1-12:30`, `1-12:30:00`. */
function time(value: string): string | null {
  const [, days, clock = ''] = /^(?:(\d+)-)?(\d+(?::\d+){0,2})$/.exec(value) ?? [];
  if (clock === '') return null;
  const parts = clock.split(':').map(Number);
  const [hours = 0, minutes = 0, seconds = 0] =
    days !== undefined || parts.length === 3 ? parts : [0, ...parts];
  const all = ((Number(days ?? 0) * 24 + hours) * 60 + minutes) * 60 + seconds;
  return all === 0 ? null : formatDuration(all * 1000);
}

function gpus(value: string): string | null {
  return /^gpu:(?:[a-z]\w*:)?([1-9]\d*)$/i.exec(value)?.[1] ?? null;
}
