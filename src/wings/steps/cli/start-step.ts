// Asks for a step. A task that is just being started is waited for.

import type { Body } from '../../../kernel/api/routes.ts';
import type { Api } from '../../../kernel/connect/api.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import type { StartStepReply } from '../api/steps.ts';
import { askWithCpus } from './without-cpus.ts';

const STARTING_MS = 10_000;
const LOOK_MS = 50;

/** `weft run` gives a job's id before its task runs. */
export async function startIn(
  api: Api,
  id: string,
  body: Body<'startStep'>,
): Promise<StartStepReply> {
  const until = performance.now() + STARTING_MS;
  for (;;) {
    try {
      return await askWithCpus(body, (said) =>
        api.call('startStep', { params: { id }, body: said }),
      );
    } catch (error) {
      if (!isStarting(error) || performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

function isStarting(error: unknown): boolean {
  if (!(error instanceof Failure) || error.code !== 'step.not_running') return false;
  return error.details['state'] === 'starting';
}
