// `weft attach 42.0`: what the processes of a step write from now on, beside whoever started it.

import { randomUUID } from 'node:crypto';
import type { Context } from '../../../kernel/cli/context.ts';
import { tellStandstill } from '../../../kernel/cli/jobs/standstill.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { StepClient } from '../sdk/step-client.ts';
import { sinkOf } from './run-step.ts';

/** Resolves with the highest exit code; leaving does nothing to the step. */
export async function attachStep(
  context: Context,
  step: string,
  { label }: { readonly label: boolean },
): Promise<number> {
  const api = await context.api();
  const id = step.slice(0, step.lastIndexOf('.'));
  const { steps } = await api.call('listSteps', { params: { id } });
  const found = steps.find((one) => one.id === step);
  if (found === undefined) throw usage(`there is no step ${step}`, `Its steps: weft job ${id}`);
  if (found.state !== 'running')
    throw usage(`step ${step} has ended: what it wrote went to whoever started it`);
  const ranks = Array.from({ length: found.processes }, (_, rank) => rank);
  const all = ranks.map((rank) => {
    const sink = sinkOf(context, label ? `${rank}: ` : null);
    const client = new StepClient(api, { id: step, rank, watch: randomUUID() }, sink);
    return client.done.finally(() => sink.end());
  });
  const still = tellStandstill(context, id);
  const results = await Promise.all(all).finally(still.stop);
  for (const why of new Set(results.flatMap(({ why }) => why ?? [])))
    context.note(`step ${step}: ${why}`);
  return Math.max(...results.map(({ code }) => code));
}
