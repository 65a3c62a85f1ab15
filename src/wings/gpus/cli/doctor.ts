// Whether the gpus of all nodes can be given to tasks, and what their tools complain of.

import type { NodeView } from '../../../kernel/api/nodes.ts';
import { plural } from '../../../kernel/base/plural.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import type { Finding } from '../../../kernel/cli/doctor/finding.ts';

import { Failure } from '../../../kernel/model/failure.ts';

const TIMEOUT_MS = 3000;

/** Nothing where no head answers, which another check tells. */
export async function gpusOfNodes(context: Context): Promise<Finding[]> {
  const nodes = await nodesOf(context);
  if (nodes === null) return [];
  const found = nodes.flatMap(findingsOf);
  if (found.length > 0) return found;
  const count = nodes.reduce((sum, { total }) => sum + total.gpuCount, 0);
  return [
    {
      state: 'ok',
      text: count === 0 ? 'no node has gpus' : `all ${plural(count, 'gpu')} are well`,
    },
  ];
}

async function nodesOf(context: Context): Promise<readonly NodeView[] | null> {
  try {
    return (await (await context.api()).call('listNodes', { timeoutMs: TIMEOUT_MS })).nodes;
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** What is no problem of a card. */
const USED: ReadonlySet<string> = new Set(['used_outside', 'kept', 'given']);

function findingsOf({ name, gpus = null, facts }: NodeView): Finding[] {
  if (gpus === null) return [];
  const { cards, fence, notes = [] } = gpus;
  // Where all tasks are of one user, there is nobody to be kept out.
  const isOpen = cards.length > 0 && fence?.holds === false && facts?.['switchesUser'] === true;
  const ill = gpus.cards.filter(({ state }) => !USED.has(state));
  return [
    ...(isOpen
      ? [{ state: 'note', text: `node ${name}: tasks may open all gpus (${fence.words})` } as const]
      : []),
    ...ill.flatMap(({ label, why }): Finding[] =>
      why === null ? [] : [{ state: 'note', text: `node ${name}: gpu ${label} is ${why}` }],
    ),
    ...notes.map((words): Finding => ({ state: 'note', text: `node ${name}: ${words}` })),
    ...(gpus.remark === null
      ? []
      : [{ state: 'note', text: `node ${name}: ${gpus.remark}` } as const]),
  ];
}
