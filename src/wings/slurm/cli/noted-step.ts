// Ranks of `srun` in a script are processes of the job's own: the head is told of them, so that
// they are steps for `sacct`. They run as well where it cannot be told, within a moment.

import { constants } from 'node:os';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import { askWithCpus } from '../../steps/cli/without-cpus.ts';
import { PROCESSES_MAX } from '../../steps/core/limits.ts';
import { taskOf } from './task-of.ts';

/** A head that is away holds up no step for longer. */
const TOLD_WITHIN_MS = 2000;
const TITLE_MAX = 200;

export interface NotedStep {
  /** Number of the step in its task; null: the head has not said one. */
  readonly number: string | null;
  /** Resolves when it is told, or cannot be. */
  ended(codes: readonly number[]): Promise<void>;
}

interface Told {
  readonly argv: readonly string[];
  /** The node of each rank. */
  readonly nodes: readonly string[];
  /** Cpus that it is given, on all its nodes. */
  readonly cpuCount: number;
}

export async function noteStep(
  context: Context,
  { argv, nodes, cpuCount }: Told,
): Promise<NotedStep> {
  const title =
    argv
      .join(' ')
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim()
      .slice(0, TITLE_MAX) || 'srun';
  const task = taskOf(context.environment);
  const body = { title, nodes: [...nodes], cpuCount };
  const beganAt = performance.now();
  const telling = tellStart(context, { task, body });
  const told = await within(() => telling);
  const ended = async (codes: readonly number[]): Promise<void> => {
    const ranMs = Math.round(performance.now() - beganAt);
    await within(async () => {
      // A head that was slow may have the step by now.
      const late = await telling;
      if (late !== null)
        await tellEnd(late.api, { task, id: late.id, body, ranMs, exits: codes.map(exitOf) });
    });
  };
  return { number: told === null ? null : told.id.slice(told.id.lastIndexOf('.') + 1), ended };
}

/** Null: the head does not hear of it. */
async function tellStart(
  context: Context,
  { task, body }: Pick<Ended, 'task' | 'body'>,
): Promise<{ readonly api: Api; readonly id: string } | null> {
  if (body.nodes.length > PROCESSES_MAX) {
    warn(context, `a step has at most ${PROCESSES_MAX} ranks there`);
    return null;
  }
  try {
    const api = await context.api();
    const note = (said: Ended['body']) =>
      api.call('noteStep', { params: { id: task }, body: said });
    const { id } = await askWithCpus(body, note);
    return { api, id };
  } catch (error) {
    if (error instanceof Failure && error.code === 'step.too_many') warn(context, error.message);
    return null;
  }
}

function warn(context: Context, why: string): void {
  context.error(`srun: warning: the step runs, and is not in the history of the job: ${why}\n`);
}

interface Ended {
  readonly task: string;
  readonly id: string;
  readonly body: {
    readonly title: string;
    readonly nodes: string[];
    readonly cpuCount?: number | undefined;
  };
  readonly ranMs: number;
  readonly exits: ({ code: number } | { signal: number })[];
}

async function tellEnd(api: Api, { task, id, body, ranMs, exits }: Ended): Promise<void> {
  try {
    await api.call('endStep', { params: { id: task, step: id }, body: { exits } });
  } catch (error) {
    // A head that has started anew knows only what nodes tell it.
    if (!(error instanceof Failure) || error.code !== 'step.not_found') throw error;
    const late = { ...body, ranMs, exits };
    await askWithCpus(late, (said) => api.call('noteStep', { params: { id: task }, body: said }));
  }
}

/** Null: it fails, or takes longer. */
export async function within<T>(act: () => Promise<T>, ms = TOLD_WITHIN_MS): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([act(), late]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}

/** Codes above 128 are signals, as in shells. */
function exitOf(code: number): { code: number } | { signal: number } {
  const signal = code - 128;
  const isSignal = Object.values(constants.signals).some((one) => one === signal);
  return isSignal ? { signal } : { code };
}
