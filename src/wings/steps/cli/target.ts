// Which task a command is about: `42`, `42[7]`, `42/n2`; inside of a job its own when none is
// named.

import type { Context } from '../../../kernel/cli/context.ts';
import { usage } from '../../../kernel/model/failure.ts';
import { parseTaskId } from '../../../kernel/model/ids.ts';

export interface Target {
  readonly task: string;
  /** Null: the first node, or all. */
  readonly node: string | null;
}

/** What is left of the words is the command. */
export function readTarget(
  { environment }: Pick<Context, 'environment'>,
  words: readonly string[],
): { readonly target: Target; readonly rest: readonly string[] } {
  const [first = '', ...rest] = words;
  const slash = first.indexOf('/');
  const task = slash < 0 ? first : first.slice(0, slash);
  const node = slash < 0 ? null : first.slice(slash + 1);
  if (parseTaskId(task).ok && node !== '') return { target: { task, node }, rest };
  const own = environment['WEFT_TASK_ID'];
  if (own !== undefined) return { target: { task: own, node: null }, rest: words };
  throw usage(
    `'${first}' is not a job id; write 42, 42[7] or 42/NODE`,
    'Only inside of a job may it be left out.',
  );
}
