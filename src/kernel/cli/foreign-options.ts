// Options as Slurm and HyperQueue call them: which of ours says the same.

import type { Command } from 'commander';
import type { OptionRow } from '../model/options/row.ts';
import { flagOf, ROWS } from '../model/options/table.ts';

/** Long and short names of theirs by ours, of options that are not about a job that is new. */
const OTHERS: Readonly<Record<string, string>> = {
  '--dry-run': '--test-only',
  '--mine': '--me',
  '--state': '--states --filter',
  '--since': '--starttime -S',
  '--until': '--endtime -E',
};

const OURS = new Map(
  [...ROWS.map((row) => [flagOf(row), theirsOf(row)] as const), ...Object.entries(OTHERS)].flatMap(
    ([ours, theirs]) => theirs.split(' ').map((one) => [one, ours]),
  ),
);

function theirsOf({ sbatch, theirs }: OptionRow): string {
  return [sbatch, theirs].filter(Boolean).join(' ');
}

/** What must be said in other words here. */
const OTHERWISE: Readonly<Record<string, string>> = {
  '--ntasks': 'Say nodes, and processes on each: --nodes 2 --procs 4.',
  '--wrap': 'Give the command to weft run, in quotes if it is a line for the shell.',
};

/** `It is --cpus here.`; null: nothing is known of it, or this command has no such option. */
export function optionHint(command: Command, flag: string): string | null {
  if (Object.hasOwn(OTHERWISE, flag)) return OTHERWISE[flag] ?? null;
  const ours = OURS.get(flag);
  const has = command.options.some(({ long }) => long === ours);
  return ours !== undefined && has ? `It is ${ours} here.` : null;
}
