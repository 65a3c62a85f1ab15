// The programs by name, those of wings too. Loading one starts it.

import { WINGS } from '../wings.ts';
import { type Programs, programsOf, type RunRead } from './wing-programs.ts';

const runRead: RunRead = async (invocation, program) => {
  const { runSingle, runVerbs } = await import('../kernel/cli/main.ts');
  const { summary } = program;
  return 'verb' in program
    ? runSingle(invocation, summary, program.verb)
    : runVerbs(invocation, program);
};

export const PROGRAMS: Programs = {
  weft: () => import('./weft.ts'),
  ...programsOf(WINGS, runRead),
};
