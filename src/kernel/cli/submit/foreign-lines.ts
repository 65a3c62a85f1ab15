// What the `#SBATCH` and `#HQ` lines of a script would be as `#WEFT` lines: nobody has to look it
// up, and what has no equal here is named.

import { formatDuration, parseDuration } from '../../base/duration.ts';
import { quoteWord } from '../../base/shell-word.ts';
import type { OptionRow } from '../../model/options/row.ts';
import { flagOf, ROWS } from '../../model/options/table.ts';
import type { Form } from '../../model/options/types.ts';
import { unknownField } from '../../model/output-patterns.ts';
import { splitWords } from './words.ts';

export interface Translated {
  /** `--cpus 4`, one for each option that means the same here. */
  readonly same: readonly string[];
  /** Options without an equal. */
  readonly other: readonly string[];
}

type Reader = (value: string) => string | null;

const asIs: Reader = (value) => value;
const count: Reader = (value) => (/^[1-9]\d*$/.test(value) ? value : null);

/** Our option for each of theirs, and its value; null: it says something else here. */
type Equals = Readonly<Record<string, readonly [ours: string, read: Reader]>>;

/** Options of Slurm that say the same in another form than the one of ours. */
const OTHER_FORMS: Readonly<Record<string, Reader>> = {
  '--mem': memory,
  '--time': time,
  '--output': outputFile,
  '--error': outputFile,
  '--nice': asIs,
};
const SLURM: Equals = {
  ...Object.fromEntries(
    slurmRows().map(({ row, long }) => [long, [flagOf(row), readerOf(row, long)]]),
  ),
  '--gres': ['--gpus', gpus],
};
const HYPERQUEUE: Equals = {
  '--name': ['--name', asIs],
  '--cpus': ['--cpus', count],
  '--nodes': ['--nodes', count],
  '--array': ['--array', (value) => (/^[\d,-]+$/.test(value) ? value : null)],
  '--time-limit': ['--time', duration],
  '--cwd': ['--chdir', (value) => (value.includes('%') ? null : value)],
};
const SYSTEMS: Readonly<Record<string, Equals>> = { '#SBATCH': SLURM, '#HQ': HYPERQUEUE };
const LONG: Readonly<Record<string, string>> = Object.fromEntries(
  slurmRows().flatMap(({ long, short }) => (short === undefined ? [] : [[short, long]])),
);
/** Options without a value that mean the same here. */
const ALONE: ReadonlySet<string> = new Set(
  slurmRows().flatMap(({ row, long }) => (row.flags.includes('<') ? [] : [long])),
);

function slurmRows() {
  return ROWS.flatMap((row) => {
    const [long, short] = row.sbatch?.split(' ') ?? [];
    return long === undefined ? [] : [{ row, long, short }];
  });
}

function readerOf({ type }: OptionRow, long: string): Reader {
  const form: Form | undefined = type?.form;
  return OTHER_FORMS[long] ?? (form?.kind === 'whole' ? count : asIs);
}

/** One task in all is what a job has anyway. */
const ONE_TASK = /^(?:--ntasks[= ]|-n ?)1$/;

/** All of a script's lines with this prefix, also behind the first command; null: no equals. */
export function translated(text: string, prefix: string): Translated | null {
  const equals = SYSTEMS[prefix];
  if (equals === undefined) return null;
  const found: Option[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith(`${prefix} `)) continue;
    const said = line.slice(prefix.length).trim();
    const words = splitWords(said);
    if (words === null || !words.ok) found.push({ said, ours: null });
    else
      found.push(
        ...optionsOf(
          equals,
          words.value.map((word) => word.text),
        ),
      );
  }
  return together(found);
}

/** One option as it stands there. */
interface Option {
  readonly said: string;
  /** Null: without an equal. */
  readonly ours: readonly [name: string, value?: string] | null;
}

/** Several may stand on one line. */
function optionsOf(equals: Equals, words: readonly string[]): Option[] {
  const options: Option[] = [];
  const left = [...words];
  for (let first = left.shift(); first !== undefined; first = left.shift()) {
    if (ALONE.has(first)) {
      options.push({ said: first, ours: [first] });
      continue;
    }
    const [, short, rest] = /^(-[A-Za-z])(.+)$/.exec(first) ?? [];
    const [flag = '', joined] = short === undefined ? first.split(/=(.*)/s) : [short, rest];
    const hasOwn = joined === undefined && left[0] !== undefined && !left[0].startsWith('-');
    const value = hasOwn ? left.shift() : joined;
    const known = equals[LONG[flag] ?? flag];
    const read = known === undefined || value === undefined ? null : known[1](value);
    options.push({
      said: hasOwn ? `${first} ${value}` : first,
      ours: known === undefined || read === null ? null : [known[0], read],
    });
  }
  return options;
}

/** Their cpus are for each task, ours for all of a node: tasks per node must be known. */
function together(all: readonly Option[]): Translated {
  const found = all.filter(({ said }) => !ONE_TASK.test(said));
  const procs = Number(found.find(({ ours }) => ours?.[0] === '--procs')?.ours?.[1] ?? 1);
  const isSpread = found.some(({ said, ours }) => ours === null && /^(?:--ntasks\b|-n)/.test(said));
  const same: string[] = [];
  const other: string[] = [];
  let hasCpus = false;
  for (const { said, ours } of found) {
    const [name, value] = ours ?? [];
    if (name === undefined || (name === '--cpus' && isSpread)) other.push(said);
    else if (name === '--cpus') same.push(`--cpus ${Number(value) * procs}`);
    else same.push(value === undefined ? name : `${name} ${quoteWord(value)}`);
    hasCpus ||= name === '--cpus';
  }
  if (procs > 1 && !hasCpus) same.push(`--cpus ${procs}`);
  return { same, other };
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

/** `%A` is the job's id where it stands for that of the array. */
function outputFile(value: string): string | null {
  const ours = value.replaceAll('%A', '%j');
  return unknownField(ours) === null ? ours : null;
}

/** Their form is ours, or a clock's. */
function duration(value: string): string | null {
  return /^[1-9]\d*$/.test(value) ? `${value}s` : parseDuration(value).ok ? value : null;
}

function gpus(value: string): string | null {
  const [, type, number] = /^gpu:(?:([a-z][\w.-]*):)?([1-9]\d*)$/i.exec(value) ?? [];
  if (number === undefined) return null;
  return type === undefined ? number : `${type.toLowerCase()}:${number}`;
}
