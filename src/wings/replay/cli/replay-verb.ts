// `weft replay`: how a policy would have done on a workload of the past, by the head's scheduler.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Context } from '../../../kernel/cli/context.ts';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { fileProblem } from '../../../kernel/config/file-problem.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { failure, usage } from '../../../kernel/model/failure.ts';
import { parseGpuTrace } from '../core/gpu-trace.ts';
import { gpuWorkloadOf, nodesOf, workloadOf } from '../core/machine.ts';
import { type BrokenLine, parseSwf } from '../core/swf.ts';
import { shaken } from '../core/synthetic.ts';
import { conclude, type Subject } from './conclude.ts';
import { readLog, UNHEEDED } from './log-trace.ts';
import {
  defineMachineOptions,
  defineReplayOptions,
  type ReplayOptions,
  readCount,
  readMachine,
  readSeed,
} from './options.ts';

interface Options extends ReplayOptions {
  readonly log?: boolean;
  readonly shake?: string;
}

export const verb = defineVerb<Options>({
  define(command) {
    command.argument(
      '[trace]',
      'a file in the Standard Workload Format, or a table of jobs with gpus, also .gz; - = standard input',
    );
    command.option('--log', "the cluster's own history instead of a trace");
    command.option('--procs <count>', 'one pool of this many processors');
    defineMachineOptions(command);
    command.option('--gpus <count>', 'of each node');
    command.option('--shake <seconds>', 'move each arrival by a random time up to this');
    defineReplayOptions(command, 'seed of the random numbers of --shake');
  },
  async run({ context, args: [trace], options }) {
    const seed = readSeed(options.seed);
    const shakeMs = options.shake === undefined ? 0 : readCount('--shake', options.shake) * 1000;
    const subject = await subjectOf(context, trace, options);
    if (subject.jobs.length === 0) throw failure(emptyTrace(subject));
    const jobs = shakeMs === 0 ? subject.jobs : shaken(subject.jobs, shakeMs, seed);
    return conclude(context, { ...subject, jobs }, options);
  },
});

async function subjectOf(
  context: Context,
  trace: string | undefined,
  options: Options,
): Promise<Subject> {
  const machine = readMachine(options);
  if (options.log) {
    if (trace !== undefined) throw usage('--log replays the history; it takes no trace');
    const nodes = machine === null ? null : nodesOf(machine);
    const log = await readLog(await context.api(), nodes);
    return {
      name: 'the history',
      ...log.workload,
      nodes: log.nodes,
      brokenLines: 0,
      unheeded: UNHEEDED,
    };
  }
  if (trace === undefined) throw usage('name a trace, or --log for the history of the cluster');
  if (machine === null) throw usage('give the machine: --procs N, or --nodes N --cpus C');
  const text = readText(context, trace);
  const ofGpus = parseGpuTrace(text);
  const name = trace === '-' ? 'standard input' : (trace.split('/').at(-1) as string);
  const nodes = nodesOf(machine);
  if (ofGpus !== null) {
    const brokenLines = told(context, trace, ofGpus.broken);
    return { name, ...gpuWorkloadOf(ofGpus.jobs, machine), nodes, brokenLines, unheeded: [] };
  }
  const { jobs, broken } = parseSwf(text);
  const brokenLines = told(context, trace, broken);
  return { name, ...workloadOf(jobs, machine), nodes, brokenLines, unheeded: [] };
}

function emptyTrace({ name, dropped, brokenLines }: Subject) {
  const { incomplete, tooLarge } = dropped;
  const left = `${incomplete} without size or run time, ${tooLarge} too large for the machine`;
  const what = `${left}, ${brokenLines} broken lines`;
  return refuse('trace.empty', { trace: name, what });
}

/** Broken lines that are told one by one; of a file that is no trace every line is broken. */
const TOLD_MAX = 10;

/** Says on standard error which lines are broken. Returns how many. */
function told(context: Context, file: string, broken: readonly BrokenLine[]): number {
  for (const { line, reason } of broken.slice(0, TOLD_MAX)) {
    context.note(`${file}:${line}: ${reason}; the line is skipped`);
  }
  const more = broken.length - TOLD_MAX;
  if (more > 0) context.note(`${file}: ${more} more broken lines are skipped`);
  return broken.length;
}

function readText(context: Context, file: string): string {
  try {
    const bytes = readFileSync(file === '-' ? 0 : path.resolve(context.cwd, file));
    // By its first bytes, not by its name: a download often has lost the one, never the others.
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isPacked ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (cause) {
    throw failure(refuse('trace.unreadable', { trace: file, cause: fileProblem(cause) }));
  }
}
