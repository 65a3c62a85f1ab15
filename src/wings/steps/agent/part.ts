// What the wing does in agents: it keeps the steps of their tasks.

import type { AgentPart } from '../../../kernel/agent/part.ts';
import type { StepPorts } from '../ports/steps.ts';
import { StepKeeper } from './keeper.ts';

export function stepsPart(ports: StepPorts): AgentPart {
  return { accompany: (agent) => new StepKeeper(agent, ports) };
}
