// The programs by name, those of wings too. Loading one starts it.

import type { WingProgram } from '../kernel/cli/part.ts';
import { WINGS } from '../wings.ts';

export const PROGRAMS: Readonly<Record<string, () => Promise<unknown>>> = {
  weft: () => import('./weft.ts'),
  ...Object.fromEntries(
    WINGS.flatMap(({ cli }) => Object.entries(cli?.programs ?? {})).map(([name, load]) => {
      return [name, async () => start(name, await load())];
    }),
  ),
};

async function start(name: string, program: WingProgram): Promise<void> {
  const { runSingle, runVerbs } = await import('../kernel/cli/main.ts');
  const { finish, invocation } = await import('./terminal.ts');
  const it = invocation(name);
  const { summary } = program;
  await finish('verb' in program ? runSingle(it, summary, program.verb) : runVerbs(it, program));
}
