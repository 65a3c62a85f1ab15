// The options of sbatch and srun: the one table that parses and that the documents show.

import type { OptionRow } from './option-table.ts';

const row = <const Name extends string>(
  long: Name,
  words: string,
  more: Omit<OptionRow<Name>, 'long' | 'words'> = {},
): OptionRow<Name> => ({ long, words, ...more });
const value = { value: 'always' } as const;
const hint = { value: 'always', kind: 'hint' } as const;
const refused = { value: 'always', kind: 'refused' } as const;

export const BATCH_OPTIONS = [
  row('job-name', 'name of the job', { short: 'J', ...value }),
  row('nodes', 'nodes; of a range the lower number', { short: 'N', ...value }),
  row('ntasks', 'ranks of `mpirun` in the script, and cpus for them', { short: 'n', ...value }),
  row('ntasks-per-node', 'ranks on each node', value),
  row('cpus-per-task', 'cpus of each rank', { short: 'c', ...value }),
  row('mem', 'memory of each node; MiB without a unit', value),
  row('mem-per-cpu', 'memory for each cpu', value),
  row('time', 'time limit', { short: 't', ...value }),
  row('partition', 'partition; of several the first', { short: 'p', ...value }),
  row('qos', 'quality of service', { short: 'q', ...value }),
  row('array', 'index set, `0-7:2%4`', { short: 'a', ...value }),
  row('dependency', 'afterok, afterany, afternotok, aftercorr', { short: 'd', ...value }),
  row('gres', '`gpu:2`, `gpu:a100:2`, per node', value),
  row('gpus-per-node', 'gpus of each node: `2`, `a100:2`', value),
  row('gpus', 'gpus of the job, over its nodes: `4`, `a100:4`', { short: 'G', ...value }),
  row('constraint', 'labels: `gpu&!old`', { short: 'C', ...value }),
  row('nodelist', 'only these nodes', { short: 'w', ...value }),
  row('exclusive', 'whole nodes', { value: 'maybe' }),
  row('output', 'file of standard output, default `slurm-%j.out`', { short: 'o', ...value }),
  row('error', 'file of standard error; default: that of standard output', {
    short: 'e',
    ...value,
  }),
  row('input', 'file of standard input', { short: 'i', ...value }),
  row('chdir', 'where it runs', { short: 'D', ...value }),
  row('export', 'ALL, NONE, or names', value),
  row('begin', '`now+1hour`, `16:00`, `2026-01-31T18:30`', { short: 'b', ...value }),
  row('hold', 'not before `scontrol release`', { short: 'H' }),
  row('nice', 'later among your own jobs; -100 to 100', { value: 'maybe' }),
  row('reservation', 'in this reservation', value),
  row('signal', '`USR1@90`; `B:` changes nothing, as all processes get it', value),
  row('requeue', 'as it is anyway'),
  row('no-requeue', 'never start it again'),
  row('wrap', 'a line for the shell in place of a script', value),
  row('parsable', 'the number alone'),
  row('wait', "wait for the end, with the job's exit code", { short: 'W' }),
  row('test-only', 'submit nothing: when and where it would start'),
  row('quiet', 'as it is anyway', { short: 'Q' }),
  row('verbose', 'nothing more is said', { short: 'v' }),
  row('mail-type', 'END, FAIL and ALL: at the end', value),
  row('mail-user', 'whom mail goes to', value),
  row('account', 'there are no accounts here', { short: 'A', ...hint }),
  row('comment', 'not kept', hint),
  row('wckey', 'there are no such keys here', hint),
  row('priority', 'say --nice', hint),
  row('licenses', 'what the cluster counts, `cluster.resources`: `matlab:2,solver`', {
    short: 'L',
    ...value,
  }),
  row('gpu-bind', 'gpus are given by the node', hint),
  row('hint', 'cores are not bound', hint),
  row('threads-per-core', 'cpus are counted as the node says', hint),
  row('open-mode', 'files are begun anew', hint),
  row('distribution', 'ranks go to nodes in turn', { short: 'm', ...hint }),
  row('tmp', 'disk is not counted', hint),
  row('switches', 'switches are not known', hint),
  row('exclude', 'say what the others have in common: --constraint', { short: 'x', ...refused }),
  row('mem-per-gpu', 'say --mem', refused),
  row('gpus-per-task', 'say --gpus-per-node', refused),
  row('clusters', 'there is one cluster', { short: 'M', ...refused }),
  row('uid', 'everybody submits as themselves', refused),
] as const;

export type BatchOption = (typeof BATCH_OPTIONS)[number]['long'];
