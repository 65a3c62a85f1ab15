// What wings show users: at a glance, beside what they asked for and after a submission; and of one
// job.

import { Failure } from '../model/failure.ts';
import type { Context, Glance, HookWing, OfJob } from './context.ts';

/** That of all wings together. */
export async function glanceOf(context: Context): Promise<Glance> {
  const all = await Promise.all(context.wings.flatMap(({ cli }) => cli?.glance?.(context) ?? []));
  return {
    fields: Object.assign({}, ...all.map(({ fields }) => fields)),
    lines: all.flatMap(({ lines }) => lines),
  };
}

/** For users at a terminal who just got what they wanted: nothing may go wrong any more. */
export async function tellGlance(context: Context): Promise<void> {
  if (!context.terminal.errorIsTerminal) return;
  try {
    const { lines } = await glanceOf(context);
    for (const line of lines) context.note(line);
  } catch (error) {
    // The job is accepted: a head that goes away now, or is older, changes nothing about that.
    if (!(error instanceof Failure)) throw error;
  }
}

/** What wings show of one job. */
export function ofJob(wings: readonly HookWing[]): Promise<OfJob[]> {
  return Promise.all(wings.flatMap(({ cli }) => cli?.ofJob?.() ?? []));
}
