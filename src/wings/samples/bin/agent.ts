// The wing in a program of agents: its nodes look at the machine together.

import { systemClock } from '../../../kernel/os/clock.ts';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { samplesPart } from '../agent/sampler.ts';
import { sharedUse, systemUse } from '../os/machine-use.ts';

/** Nodes of one program begin at about the same time. */
const FRESH_MS = 1000;

export function samplesOnNodes(): AgentMaker {
  const machine = sharedUse(systemUse(), () => systemClock.monotonic(), FRESH_MS);
  // Tasks of a gateway run on other machines.
  return ({ options }) => (options.site === undefined ? samplesPart(machine) : {});
}
