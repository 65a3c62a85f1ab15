// Options as Slurm and HyperQueue call them: which of ours says the same.

import type { Command } from 'commander';

/** Long and short names of theirs by ours. */
const THEIRS: Readonly<Record<string, string>> = {
  '--name': '--job-name -J',
  '--cpus': '--cpus-per-task -c',
  '--procs': '--ntasks-per-node --ntasks',
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
  '--begin': '-b',
  '--state': '--states --filter',
  '--since': '--starttime -S',
  '--until': '--endtime -E',
};

const OURS = new Map(
  Object.entries(THEIRS).flatMap(([ours, theirs]) => theirs.split(' ').map((one) => [one, ours])),
);

/** `It is --cpus here.`; null: nothing is known of it, or this command has no such option. */
export function optionHint(command: Command, flag: string): string | null {
  const ours = OURS.get(flag);
  const has = command.options.some(({ long }) => long === ours);
  return ours !== undefined && has ? `It is ${ours} here.` : null;
}
