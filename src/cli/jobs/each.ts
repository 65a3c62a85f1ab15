// Verbs that do one thing to several, mostly jobs: each is tried, failures are told, the first one
// decides.

import type { RouteName } from '../../api/paths.ts';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';
import { readPlace } from '../ids.ts';
import { defineVerb, type Verb } from '../verb.ts';

/** Runs `act` for each id; resolves with the exit code of the first failure, or 0. */
export async function forEachJob(
  context: Context,
  ids: readonly string[],
  act: (id: string) => Promise<void>,
): Promise<number> {
  for (const id of ids) readPlace(id);
  return forEach(context, ids, act);
}

/** The same for what else has a name. */
export async function forEach(
  context: Context,
  ids: readonly string[],
  act: (id: string) => Promise<void>,
): Promise<number> {
  let exitCode = 0;
  for (const id of ids) {
    try {
      await act(id);
    } catch (error) {
      if (!(error instanceof Failure) || ids.length === 1) throw error;
      context.note(`${id}: ${error.message}`);
      exitCode ||= error.exitCode;
    }
  }
  return exitCode;
}

type ActionRoute = Extract<
  RouteName,
  'cancelJob' | 'holdJob' | 'releaseJob' | 'suspendJob' | 'resumeJob' | 'requeueJob'
>;

/** A verb that posts to one route for each job. `said`: what has happened then. */
export function actionVerb(route: ActionRoute, said: (id: string, tasks: string) => string): Verb {
  return defineVerb({
    define(command) {
      command.argument('<job...>', 'job ids: 42, or 42[7] for one task of an array');
    },
    async run({ context, args }) {
      const api = await context.api();
      return forEachJob(context, args, async (id) => {
        const { count } = await api.call(route, { params: { id } });
        context.print(said(id, count === 1 ? '1 task' : `${count} tasks`));
      });
    },
  });
}
