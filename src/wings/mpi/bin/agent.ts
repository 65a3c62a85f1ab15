// What tasks with `--mpi` find on the nodes of an agents' program.

import { resolve } from 'node:path';
import type { AgentMaker } from '../../../kernel/wing.ts';
import { mpiPart } from '../agent/part.ts';
import { stepPrograms } from '../os/step-programs.ts';

export const mpiOnNode: AgentMaker = ({ options }) =>
  mpiPart(stepPrograms(resolve(options.stateDir)));
