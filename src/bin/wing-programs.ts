// Programs that wings have beside `weft`.

import type { Invocation } from '../kernel/cli/main.ts';
import type { CliWing, WingProgram } from '../kernel/cli/part.ts';

export type Programs = Readonly<Record<string, () => Promise<unknown>>>;

/** Runs a program whose words are read as those of `weft`. */
export type RunRead = (invocation: Invocation, program: WingProgram) => Promise<number>;

/** By name. Loading one starts it. */
export function programsOf(wings: readonly CliWing[], runRead: RunRead): Programs {
  return Object.fromEntries(
    wings
      .flatMap(({ cli }) => Object.entries(cli?.programs ?? {}))
      .map(([name, load]) => {
        return [name, async () => start(name, await load(), runRead)];
      }),
  );
}

async function start(name: string, program: WingProgram, runRead: RunRead): Promise<void> {
  const { finish, invocation } = await import('./terminal.ts');
  const it = invocation(name);
  if (!('verb' in program) || program.verb.isAsTyped !== true) return finish(runRead(it, program));
  const { runAsTyped } = await import('../kernel/cli/as-typed.ts');
  return finish(runAsTyped(it, program.verb, () => import('./lines.ts')));
}
