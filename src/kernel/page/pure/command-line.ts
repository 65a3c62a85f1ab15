// The command that does the same as a button or a filter of the page, to be copied.

import { quoteWord } from '../../base/shell-word.ts';
import { FIELD_ROWS, flagOf } from '../../model/options/table.ts';
import { FORM_ROWS, type JobForm } from './job-form.ts';

/** Filters of the list of jobs; the words of `weft jobs`. Empty: no such filter. */
export interface JobFilter {
  readonly state: string;
  readonly owner: string;
  readonly outcome: string;
  readonly name: string;
  readonly sort: string;
}

export const NO_FILTER: JobFilter = {
  state: 'active',
  owner: '',
  outcome: '',
  name: '',
  sort: 'newest',
};

/** `weft jobs --state running --user alice`. */
export function jobsCommand({ state, owner, outcome, name, sort }: JobFilter): string {
  return line([
    'weft jobs',
    ...(state === 'active' ? [] : state === 'all' ? ['--all'] : ['--state', state]),
    ...(owner === '' ? [] : ['--user', quoteWord(owner)]),
    ...(outcome === '' ? [] : ['--outcome', outcome]),
    ...(name === '' ? [] : ['--name', quoteWord(name)]),
    ...(sort === 'newest' ? [] : ['--sort', sort]),
  ]);
}

/** `weft kill 12,15`: long lists go on as ranges of what is next to each other. */
export function jobsOperand(ids: readonly number[]): string {
  const sorted = [...new Set(ids)].sort((one, other) => one - other);
  const parts: string[] = [];
  for (let at = 0; at < sorted.length; ) {
    let end = at;
    while (sorted[end + 1] === (sorted[end] as number) + 1) end += 1;
    parts.push(end - at > 1 ? `${sorted[at]}-${sorted[end]}` : sorted.slice(at, end + 1).join());
    at = end + 1;
  }
  return parts.join();
}

export function actionCommand(verb: string, ids: readonly number[]): string {
  return `weft ${verb} ${jobsOperand(ids)}`;
}

/** The same as the form, for a shell. */
export function runCommand(form: JobForm): string {
  const option = (flag: string, value: string): string[] =>
    value.trim() === '' ? [] : [flag, quoteWord(value.trim())];
  return line([
    'weft run',
    ...FORM_ROWS.flatMap((row) => option(flagOf(row), form[row.name])),
    ...(form.chdir.trim() === '' ? ['--private'] : option('--chdir', form.chdir)),
    '--',
    quoteWord(form.command),
  ]);
}

/** The same as a script with its request on top, for `weft submit`. */
export function submitScript(form: JobForm): string {
  const command = runCommand({ ...form, command: 'x' });
  const options = command.slice('weft run '.length, -' -- x'.length);
  return `#!/bin/sh\n#WEFT ${options}\n${form.command}\n`;
}

/** Changes of a waiting job, as `weft change` writes them. */
export function changeCommand(id: number, change: Readonly<Record<string, number | null>>): string {
  const options = Object.entries(change).flatMap(([field, value]) => {
    const row = FIELD_ROWS.find((one) => one.field === field && one.change !== undefined);
    return row === undefined ? [] : [flagOf(row), (row.type.format ?? String)(value)];
  });
  return line([`weft change ${id}`, ...options]);
}

function line(words: readonly string[]): string {
  return words.join(' ');
}
