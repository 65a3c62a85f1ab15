// Steps on the nodes of an agents' program.

import { join, resolve } from 'node:path';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { stepsPart } from '../agent/part.ts';
import { helperOf } from '../os/helper.ts';
import { dialStep } from '../os/step-dialer.ts';
import { makeStepPipes } from '../os/step-pipes.ts';

export const stepsOnNode: AgentMaker = ({ options, launcher }) => {
  // Its tasks run elsewhere.
  if (options.site !== undefined) return {};
  const { head, name, secret } = options;
  const stateDir = resolve(options.stateDir);
  const folder = join(stateDir, 'steps');
  return stepsPart({
    helper: helperOf(stateDir, launcher),
    makePipes: (pipe, owner) => makeStepPipes(folder, pipe, owner),
    dial: (step, rank) => dialStep({ head, name, secret }, step, rank),
  });
};
