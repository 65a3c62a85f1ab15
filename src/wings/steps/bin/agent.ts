// Steps on the nodes of an agents' program.

import { rmSync } from 'node:fs';
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
  // Pipes of steps that an earlier agent left behind: what still has them open is ended.
  rmSync(folder, { recursive: true, force: true });
  return stepsPart({
    helper: helperOf(stateDir, launcher),
    makePipes: (pipe, owner) => makeStepPipes(folder, pipe, owner),
    dial: (step, rank) => dialStep({ head, name, secret }, step, rank),
  });
};
