// `scontrol`: what it shows and does to jobs, and to nodes for operators.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Context } from '../../../kernel/cli/context.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { OptionRow } from '../core/option-table.ts';
import { idList, ourId } from './our-ids.ts';
import { createReservation, deleteReservation } from './reservations.ts';
import { show } from './scontrol-show.ts';
import { update } from './scontrol-update.ts';
import { clusterOf, type Line, RELEASE, readWords, runOurs, speaking } from './speaking.ts';

export const summary = 'Show and change jobs and nodes, as scontrol of Slurm does.';
export const verb = speaking('scontrol', scontrol);

export const CONTROL_OPTIONS = [
  { long: 'oneliner', short: 'o', words: 'a line for each record' },
  { long: 'details', short: 'd', words: 'nothing more is shown' },
  { long: 'all', short: 'a', words: 'as it is anyway' },
  { long: 'hide', words: 'as it is anyway' },
  { long: 'local', words: 'there is one cluster' },
  { long: 'federation', words: 'there is one cluster' },
  { long: 'clusters', short: 'M', value: 'always', words: 'the name of this one, or `all`' },
  { long: 'quiet', short: 'Q', words: 'as it is anyway' },
  { long: 'verbose', short: 'v', words: 'nothing more is said' },
  { long: 'json', value: 'maybe', kind: 'refused', words: 'say squeue or sinfo --json' },
  { long: 'yaml', value: 'maybe', kind: 'refused', words: 'say squeue or sinfo --json' },
] as const satisfies readonly OptionRow[];

/** What is done to jobs, by our commands. */
const ON_JOBS: Readonly<Record<string, Line>> = {
  hold: 'hold',
  uhold: 'hold',
  release: 'release',
  suspend: 'suspend',
  resume: 'resume',
  requeue: 'requeue',
};

async function scontrol(context: Context, words: readonly string[]): Promise<number> {
  const { given, operands } = readWords(CONTROL_OPTIONS, words);
  await clusterOf(context, given.clusters);
  const lines = given.oneliner === undefined ? 'many' : 'one each';
  const [command = '', ...rest] = operands;
  const ours = ON_JOBS[command.toLowerCase()];
  if (ours !== undefined) return onJobs(context, ours, rest);
  if (command === 'show') return show(context, rest, lines);
  if (command === 'write') return write(context, rest);
  if (command === 'version') {
    context.print(RELEASE);
    return 0;
  }
  if (command === 'update') return update(context, rest);
  if (command === 'create') return createReservation(context, rest);
  if (command === 'delete') return deleteReservation(context, rest);
  if (command === 'wait_job') return waitJob(context, rest);
  if (command === 'ping') {
    await (await context.api()).call('info');
    context.print('Slurmctld(primary) at weft is UP');
    return 0;
  }
  throw usage(
    `invalid keyword: ${command}`,
    `There are show, update, create, delete, ping, wait_job, ${Object.keys(ON_JOBS).join(', ')}.`,
  );
}

async function onJobs(context: Context, command: Line, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) throw usage(`too few arguments for keyword:${command}`);
  const [, name] = /^(?:job)?name=(.+)$/is.exec(ids[0] ?? '') ?? [];
  const isRequeue = command === 'requeue';
  // A job that puts itself back ends by that, and this with it: its script is to hear that it is
  // done.
  if (isRequeue) process.on('SIGTERM', () => undefined);
  return name === undefined
    ? runOurs(context, [command, '--', ...idList(ids.join(','))])
    : runOurs(context, [command, `--name=${name}`, ...(isRequeue ? ['--yes'] : [])]);
}

/** Nodes of a job that runs are ready here: nothing is booted. */
async function waitJob(context: Context, [job = '']: readonly string[]): Promise<number> {
  const params = { id: ourId(job).replace(/\[.*/, '') };
  const { state } = await (await context.api()).call('getJob', { params });
  if (state === 'done') throw usage(`Job ${job} no longer running`);
  return runOurs(context, ['wait', '--quiet', '--started', '--', ourId(job)]);
}

/** `write batch_script 42 [FILE]`; `-` is standard output. */
async function write(context: Context, [what = '', job, file]: readonly string[]): Promise<number> {
  if (what.toLowerCase() !== 'batch_script' || job === undefined)
    throw usage(
      `invalid entity:${what} for keyword:write`,
      'There is write batch_script JOB [FILE].',
    );
  const id = ourId(job).replace(/\[.*/, '');
  const { program } = await (await context.api()).call('getJob', { params: { id } });
  const text = scriptOf(program);
  if (text === '') throw usage(`job script retrieval failed: job ${id} has none that you may see`);
  if (file === '-') {
    context.out(text);
    return 0;
  }
  const name = file ?? `slurm-${id}.sh`;
  try {
    writeFileSync(path.resolve(context.cwd, name), text);
  } catch (error) {
    throw usage(`${name} cannot be written: ${fileProblem(error)}`);
  }
  context.print(`batch script for job ${id} written to ${name}`);
  return 0;
}

function scriptOf(program: unknown): string {
  const { kind, text, line } = program as { kind?: unknown; text?: unknown; line?: unknown };
  if (kind === 'script' && typeof text === 'string') return text;
  return kind === 'shell' && typeof line === 'string' ? `#!/bin/sh\n${line}\n` : '';
}
