// What is said of a step's cpus is for its history: a head of a release before, which does not know
// of them, starts the step, or takes note of it, all the same.

import { Failure } from '../../../kernel/model/failure.ts';

/** Asks once more without `cpuCount` where the head does not know it. */
export async function askWithCpus<B extends { cpuCount?: number | undefined }, R>(
  body: B,
  ask: (body: B) => Promise<R>,
): Promise<R> {
  try {
    return await ask(body);
  } catch (error) {
    const isUnknown = error instanceof Failure && error.kind === 'invalid_argument';
    if (body.cpuCount === undefined || !isUnknown || !/\bcpuCount\b/.test(error.message))
      throw error;
    return ask({ ...body, cpuCount: undefined });
  }
}
