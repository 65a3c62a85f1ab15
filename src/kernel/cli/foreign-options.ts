// Options as Slurm and HyperQueue call them: which of ours says the same.

import type { Command } from 'commander';

/** Long and short names of theirs by ours. */
const THEIRS: Readonly<Record<string, string>> = {
  '--name': '--job-name -J',
  // Theirs are for each task, ours for all processes of a node: with one process it is the same.
  '--cpus': '--cpus-per-task -c',
  '--procs': '--ntasks-per-node',
  '--nodes': '-N',
  '--memory': '--mem',
  '--gpus': '--gres --gpus-per-node --gpus-per-task -G',
  '--time': '--time-limit --time-request --walltime',
  '--array': '-a',
  '--after': '--dependency -d',
  '--partition': '-p',
  '--needs': '--constraint -C',
  '--nodes-named': '--nodelist -w',
  '--output': '--stdout -o',
  '--error': '--stderr -e',
  '--stdin': '--input -i',
  '--chdir': '--workdir --cwd -D',
  '--env': '--export',
  '--notify': '--mail-type --mail-user',
  '--retries': '--crash-limit',
  '--each-json': '--from-json',
  '--dry-run': '--test-only',
  '--hold': '-H',
  '--mine': '--me',
  '--begin': '-b',
  '--state': '--states --filter',
  '--since': '--starttime -S',
  '--until': '--endtime -E',
};

const OURS = new Map(
  Object.entries(THEIRS).flatMap(([ours, theirs]) => theirs.split(' ').map((one) => [one, ours])),
);

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
