// Steps among the operands of a verb that ends or signals: `42.0`, `42[7].1`.

import { usage } from '../../model/failure.ts';
import type { Context, StepSignal } from '../context.ts';
import { type ActionOptions, forEachJob } from './each.ts';

const STEP = /^\d{1,15}(?:\[\d{1,9}\])?\.\d{1,9}$/;

interface Asked {
  readonly args: readonly string[];
  readonly options: ActionOptions;
  readonly signal: StepSignal | null;
}

/** Null: there are none, and the operands are jobs. */
export async function actOnSteps(
  context: Context,
  { args, options, signal }: Asked,
): Promise<number | null> {
  const steps = args.filter((one) => STEP.test(one));
  if (steps.length === 0) return null;
  const { dryRun = false, yes: _, ...selection } = options;
  const isMixed = steps.length < args.length || Object.keys(selection).length > 0;
  if (isMixed) throw usage('name steps alone, as 42.0, or jobs alone');
  const { cli } = context.wings.find(({ cli: own }) => own?.endStep !== undefined) ?? {};
  if (cli?.endStep === undefined) throw usage('there are no steps here');
  const { endStep } = cli;
  const verb = signal === null ? 'end' : `send ${signal.name} to`;
  return forEachJob(context, steps, async (step) =>
    dryRun ? `Would ${verb} step ${step}.` : endStep(context, step, signal),
  );
}
