// Which nodes a pause is about, and the two ways to ask: their agents here, or the head for
// operators.

import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeView } from '../../../kernel/api/nodes.ts';
import type { Context } from '../../../kernel/cli/context.ts';
import { Failure, usage } from '../../../kernel/model/failure.ts';
import { parseNodeName } from '../../../kernel/model/ids.ts';
import { type LocalNode, localNodes, strangersHere } from './agent-sockets.ts';

/** A node hears within milliseconds; the commit of a busy head takes longer. */
const ANSWER_MAX_MS = 10_000;
const POLL_MS = 100;

/** The two ways to do it; each prints what came of it. */
export interface Ways {
  here(node: LocalNode): Promise<void>;
  byHead(name: string): Promise<void>;
}

/** Those that were named, else all of this machine. */
export async function askNodes(
  context: Context,
  names: readonly string[] | undefined,
  ways: Ways,
): Promise<void> {
  const local = localNodes(context);
  if (names === undefined) {
    if (local.length === 0) throw nobodyHere(context);
    await askEach(context, local, (node) => ways.here(node));
    return;
  }
  await askEach(context, names.map(readName), (name) => {
    const node = local.find((one) => one.name === name);
    return node === undefined ? ways.byHead(name) : hereOrByHead(node, ways);
  });
}

/** One that does not do it keeps none of the others from it. Throws the first failure. */
export async function askEach<T>(
  context: Pick<Context, 'note'>,
  all: readonly T[],
  act: (one: T) => Promise<void>,
): Promise<void> {
  const failures: Failure[] = [];
  for (const one of all) {
    try {
      await act(one);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push(error);
    }
  }
  const [first, ...others] = failures;
  for (const other of others) context.note(other.message);
  if (first !== undefined) throw first;
}

/** An operator may be neither the owner nor at the console. */
async function hereOrByHead(node: LocalNode, ways: Ways): Promise<void> {
  try {
    await ways.here(node);
  } catch (error) {
    const isForHead =
      error instanceof Failure && ['node.not_owner', 'agent.unreachable'].includes(error.code);
    if (!isForHead) throw error;
    await ways.byHead(node.name).catch(() => {
      throw error;
    });
  }
}

/** The node as it is when its agent has answered; null: it has not within ten seconds. */
export async function untilAnswered(context: Context, name: string): Promise<NodeView | null> {
  const api = await context.api();
  const until = performance.now() + ANSWER_MAX_MS;
  for (;;) {
    const node = await api.call('getNode', { params: { name } });
    if (!node.pauseWanted) return node;
    if (performance.now() > until) return null;
    await sleep(POLL_MS);
  }
}

function readName(text: string): string {
  const name = parseNodeName(text);
  if (!name.ok) throw usage(`--node: ${name.error}`);
  return name.value;
}

function nobodyHere({ directory }: Context): Failure {
  const [other] = strangersHere();
  const theirs = other === undefined ? '' : ` One of another user is in ${other}.`;
  const hint = `Name the directory of its agent with --dir, or a node of the cluster with --node.${theirs}`;
  return usage(`no agent of a node is on this machine (none in ${directory}/agents)`, hint);
}
