// Programs that wings have beside `weft`.

import type { CliWing, WingProgram } from '../kernel/cli/part.ts';

export type Programs = Readonly<Record<string, () => Promise<unknown>>>;

/** By name. Loading one starts it. */
export function programsOf(wings: readonly CliWing[]): Programs {
  return Object.fromEntries(
    wings
      .flatMap(({ cli }) => Object.entries(cli?.programs ?? {}))
      .map(([name, load]) => {
        return [name, async () => start(name, await load())];
      }),
  );
}

async function start(name: string, program: WingProgram): Promise<void> {
  const { finish, invocation } = await import('./terminal.ts');
  const it = invocation(name);
  if ('verb' in program && program.verb.isAsTyped === true) {
    const { runAsTyped } = await import('../kernel/cli/as-typed.ts');
    return finish(runAsTyped(it, program.verb, () => import('./lines.ts')));
  }
  const { runSingle, runVerbs } = await import('../kernel/cli/main.ts');
  const { summary } = program;
  await finish('verb' in program ? runSingle(it, summary, program.verb) : runVerbs(it, program));
}
