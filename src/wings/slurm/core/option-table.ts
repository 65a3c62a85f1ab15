// Options by one table, as getopt_long(3) reads them: `--name=value`, `--name value`, `-n value`,
// `-nvalue`, short ones together, and beginnings of long ones that are no other's.

import { err, ok, type Result } from '../../../kernel/base/result.ts';

export interface OptionRow<Name extends string = string> {
  readonly long: Name;
  readonly short?: string;
  /** Absent: it stands alone. `maybe`: only as `--name=value` or `-nvalue`. */
  readonly value?: 'always' | 'maybe';
  /** Which other one it takes back. */
  readonly undoes?: string;
  /** The option that it is another name of. */
  readonly means?: string;
  /** Several of them are one list. */
  readonly many?: true;
  /** What becomes of it here, for people. */
  readonly words: string;
  /** `hint`: taken, with a warning; `refused`: named, and nothing is done. Absent: honoured. */
  readonly kind?: 'hint' | 'refused';
}

export interface Read<Name extends string> {
  /** The last of each, as in Slurm. `''`: it stood alone. */
  readonly given: Readonly<Partial<Record<Name, string>>>;
  readonly operands: readonly string[];
}

/** Options end at the first operand where `stops`; the error is in the words of getopt. */
export function readOptions<Name extends string>(
  rows: readonly OptionRow<Name>[],
  words: readonly string[],
  { stops = false } = {},
): Result<Read<Name>, string> {
  const given: Partial<Record<Name, string>> = {};
  const operands: string[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === '--') {
      operands.push(...left);
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word);
      if (!stops) continue;
      operands.push(...left);
      break;
    }
    const taken = word.startsWith('--') ? long(rows, word, left) : short(rows, word, left);
    if (!taken.ok) return taken;
    for (const [typed, value] of taken.value) {
      const known = rows.find(({ long }) => long === typed);
      const name = (known?.means ?? typed) as Name;
      const row = rows.find(({ long }) => long === name);
      const before = row?.many ? given[name] : undefined;
      if (row?.undoes !== undefined) delete given[row.undoes as Name];
      given[name] = before === undefined ? value : `${before},${value}`;
    }
  }
  return ok({ given, operands });
}

/** What stands in a script, and what was typed, which wins. */
export function overridden<Name extends string>(
  rows: readonly OptionRow<Name>[],
  under: Read<Name>['given'],
  over: Read<Name>['given'],
): Read<Name>['given'] {
  const undone = rows.flatMap(({ long: name, undoes }) => (name in over ? [undoes] : []));
  const kept = Object.entries(under).filter(([name]) => !undone.includes(name));
  return Object.assign(Object.fromEntries(kept), over);
}

type Taken<Name extends string> = readonly (readonly [name: Name, value: string])[];

function long<Name extends string>(
  rows: readonly OptionRow<Name>[],
  word: string,
  left: string[],
): Result<Taken<Name>, string> {
  const [name = '', joined] = word.slice(2).split(/=(.*)/s);
  const exact = rows.find((row) => row.long === name);
  const near = exact === undefined ? rows.filter((row) => row.long.startsWith(name)) : [exact];
  const [row, other] = near;
  if (row === undefined || name === '') return err(`unrecognized option '${word}'`);
  if (other !== undefined) {
    const all = near.map((one) => `'--${one.long}'`).join(' ');
    return err(`option '--${name}' is ambiguous; possibilities: ${all}`);
  }
  if (row.value === undefined) {
    return joined === undefined
      ? ok([[row.long, '']])
      : err(`option '--${row.long}' doesn't allow an argument`);
  }
  const value = joined ?? (row.value === 'always' ? left.shift() : '');
  return value === undefined
    ? err(`option '--${row.long}' requires an argument`)
    : ok([[row.long, value]]);
}

function short<Name extends string>(
  rows: readonly OptionRow<Name>[],
  word: string,
  left: string[],
): Result<Taken<Name>, string> {
  const taken: (readonly [name: Name, value: string])[] = [];
  for (let rest = word.slice(1); rest !== ''; ) {
    const letter = rest[0] ?? '';
    rest = rest.slice(1);
    const row = rows.find((one) => one.short === letter);
    if (row === undefined) return err(`invalid option -- '${letter}'`);
    if (row.value === undefined) {
      taken.push([row.long, '']);
      continue;
    }
    const value = rest === '' && row.value === 'always' ? left.shift() : rest;
    if (value === undefined) return err(`option requires an argument -- '${letter}'`);
    taken.push([row.long, value]);
    rest = '';
  }
  return ok(taken);
}
