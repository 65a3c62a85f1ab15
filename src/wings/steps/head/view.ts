// Steps as the API shows them.

import type { StepView } from '../api/step-view.ts';
import { formatStepId } from '../core/ids.ts';
import { isLive, type Step, type StepProcess } from '../core/step.ts';

export function viewStep(step: Step): StepView {
  const all = [...step.processes.values()];
  const over = !isLive(step);
  const ends = all.map(({ endedAt }) => endedAt ?? 0);
  const cpus = all.flatMap((one) => one.cpus ?? []);
  const view: StepView = {
    id: formatStepId(step),
    epoch: Number(step.epochId.slice(step.epochId.indexOf('#') + 1)),
    command: step.command,
    by: step.by,
    state: over ? 'ended' : 'running',
    nodes: [...new Set(all.map(({ node }) => node))],
    processes: step.count,
    startedAt: all.length === 0 ? null : Math.min(...all.map(({ startedAt }) => startedAt)),
    endedAt: over && all.length > 0 ? Math.max(...ends) : null,
    exit: over ? worstExit(all) : null,
    why: over ? whyUnknown(all) : null,
    used: over ? useOf(all) : null,
  };
  if (cpus.length > 0) view.cpus = cpus;
  if (step.cpuCount !== undefined) view.cpuCount = step.cpuCount;
  return view;
}

/** The highest, a signal counted as shells count it. */
function worstExit(all: readonly StepProcess[]): StepView['exit'] {
  const exits = all.flatMap(({ end }) => (end !== null && 'exit' in end ? [end.exit] : []));
  const codeOf = (exit: (typeof exits)[number]) => ('code' in exit ? exit.code : 128 + exit.signal);
  return exits.sort((a, b) => codeOf(b) - codeOf(a))[0] ?? null;
}

function useOf(all: readonly StepProcess[]): StepView['used'] {
  const uses = all.flatMap(({ end }) =>
    end !== null && 'exit' in end && end.used !== undefined ? [end.used] : [],
  );
  if (uses.length === 0) return null;
  return {
    userUs: sumOf(uses.map(({ userUs }) => userUs)),
    systemUs: sumOf(uses.map(({ systemUs }) => systemUs)),
    memoryPeakBytes: Math.max(...uses.map(({ memoryPeakBytes }) => memoryPeakBytes)),
  };
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

function whyUnknown(all: readonly StepProcess[]): string | null {
  for (const { end } of all) if (end !== null && 'why' in end) return end.why;
  return null;
}
