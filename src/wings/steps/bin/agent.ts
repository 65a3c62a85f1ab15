// Steps on the nodes of an agents' program.

import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { stepsPart } from '../agent/part.ts';
import { CpuClaims } from '../core/binding.ts';
import { EPOCH_HEADER, formatLine } from '../core/ids.ts';
import { readCpus } from '../os/cpus.ts';
import { helperOf } from '../os/helper.ts';
import { dialStep } from '../os/step-dialer.ts';
import { makeStepPipes } from '../os/step-pipes.ts';
import type { CpuBook } from '../ports/steps.ts';

const words = { epochHeader: EPOCH_HEADER, line: formatLine };

/** Looked at when somebody first binds: of the machine, for all its nodes in this program. */
let claims: CpuClaims | null = null;
const machine: CpuBook = {
  claim: (task, count, near) => {
    claims ??= new CpuClaims(readCpus());
    return claims.claim(task, count, near);
  },
  giveBack: (task) => claims?.giveBack(task),
};

export const stepsOnNode: AgentMaker = ({ options, launcher }) => {
  // Its tasks run elsewhere.
  if (options.site !== undefined) return {};
  const { head, name, secret } = options;
  const stateDir = resolve(options.stateDir);
  const folder = join(stateDir, 'steps');
  // Pipes of steps that an earlier agent left behind: what still has them open is ended.
  rmSync(folder, { recursive: true, force: true });
  return stepsPart({
    node: name,
    cpus: machine,
    helper: helperOf(stateDir, launcher),
    makePipes: (pipe, owner) => makeStepPipes(folder, pipe, owner),
    dial: (process) => dialStep({ head, name, secret, ...words }, process),
  });
};
