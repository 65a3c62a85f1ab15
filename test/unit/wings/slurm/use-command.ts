// A command of Slurm's before a head that answers as it is told.

import type { Context } from '../../../../src/kernel/cli/context.ts';
import type { Verb } from '../../../../src/kernel/cli/verb.ts';

export type Asked = {
  readonly params: { readonly id: string };
  readonly query: { readonly before?: number; readonly owner?: string };
};

export type Answer = (name: string, asked: Asked) => unknown;

/** What it prints, says on its error output, and ends with. */
export async function use(
  verb: Verb,
  args: readonly string[],
  answer: Answer,
  runLine?: Context['runLine'],
  own: object = {},
) {
  const out: string[] = [];
  const errors: string[] = [];
  const api = { call: async (name: string, asked: Asked) => answer(name, asked) };
  const context = {
    environment: {},
    api: async () => api,
    print: (text: string) => out.push(text),
    error: (text: string) => errors.push(text),
    program: 'slurm',
    terminal: {},
    runLine,
    ...own,
  } as unknown as Context;
  const code = await verb.run({ context, args, options: {} });
  return { code, out: out.join('\n'), errors: errors.join('') };
}
