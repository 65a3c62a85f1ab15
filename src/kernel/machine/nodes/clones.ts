// Second machines with the identity of a node. A copy of an agent's folder (an image made after the
// join, a cloned virtual machine) has the node's secret, so it says hello under the node's name.

import { toPlainLine } from '../../base/plain-line.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import type { NodeHello } from '../../model/node.ts';
import type { Of } from '../events.ts';
import type { Reply } from '../reply.ts';
import type { State } from '../state.ts';
import type { Step } from '../step.ts';
import { nodeOf, refreshPool } from './apply.ts';
import type { CopyOf } from './commands.ts';
import type { Clone, Node } from './facts.ts';
import {
  forgetMachine,
  isOneMachine,
  isOtherFolder,
  isOtherMachine,
  isSameMachine,
} from './machine.ts';

/** Copies of a node that are named; a hundred machines of one image would be a hundred. */
const CLONES_MAX = 8;
const HOSTNAME_LENGTH_MAX = 255;
/** Messages on their way, and clocks that run at different rates, are not taken for evidence. */
const SLACK_MS = 5_000;
const SLACK_SHARE = 0.01;

/**
 * Refuses the hello of a second machine (N18): nothing that the node holds is lost by it. Null: the
 * hello is the node's. `heardMsAgo`: since the node was heard in its session; undefined: not since
 * the head started.
 */
export function refuseClone(
  step: Step,
  hello: NodeHello,
  heardMsAgo: number | undefined,
): Result<Reply, Refusal> | null {
  const node = step.state.nodes.get(hello.node);
  if (node === undefined) return null;
  const known = node.clones.find((one) => isOneMachine(one, hello));
  const why = known?.why ?? whyClone(node, hello, heardMsAgo);
  if (why === null) return null;
  const refusal = refuse('node.cloned', { node: node.name, why }, settleHint(node.name));
  if (known !== undefined) return err(refusal);
  const { bootId, machine = null } = hello;
  const hostname = toPlainLine(hello.facts.hostname).slice(0, HOSTNAME_LENGTH_MAX);
  const clone: Clone = { bootId, hostname, machine, why, at: step.at };
  step.emit({ kind: 'node_clone_seen', node: node.name, clone });
  return ok({ kind: 'node_cloned', refusal });
}

/** For the log of the machine that is refused, and the head's. */
function settleHint(name: string): string {
  const gone = `if the other one is gone for good, \`weft node undrain ${name}\``;
  return `Make the copy a node of its own: \`weft node reenroll\` there; ${gone}.`;
}

/**
 * Whether the hello says that what the node holds is gone, as after a reboot: then the machine that
 * has it says nothing more. `heardMsAgo` as of `refuseClone`.
 */
export function seemsRebooted(
  node: Node,
  hello: NodeHello,
  heardMsAgo: number | undefined,
): boolean {
  const isInUse = node.connected || node.holding.size > 0;
  if (!isInUse || node.bootId === '' || node.bootId === hello.bootId) return false;
  if (hello.facts.site !== undefined) return false;
  const isKnown = node.clones.some((one) => isOneMachine(one, hello));
  return !isKnown && whyClone(node, hello, heardMsAgo) === null;
}

/**
 * Why the hello is not of the machine that the node is; null: it may be. A reboot brings one new
 * boot id, of a boot that began after the machine was heard last.
 */
function whyClone(node: Node, hello: NodeHello, heardMsAgo: number | undefined): string | null {
  if (node.bootId === '') return null;
  // What runs at a site outlives the machine of its gateway, which may be another one any time.
  const isHolding = node.holding.size > 0 && hello.facts.site === undefined;
  const isInUse = node.connected || isHolding;
  if (node.bootId === hello.bootId) {
    // A folder made anew has an instance that the head has never heard of.
    const isOf = [hello.instance, hello.machine?.copyOf].includes(node.instance);
    const isCopied = node.connected || (isHolding && isOf);
    const isCopy = isCopied && isOtherFolder(node.machine, hello.machine);
    return isCopy ? 'two folders of one machine have its secret' : null;
  }
  // Nothing can be lost by one that holds nothing: its folder may move to a machine and back again.
  if (!isInUse && node.clones.length === 0) return null;
  if (node.formerBoots.includes(hello.bootId)) return 'two boots alternate under its name';
  if (isOtherMachine(node.machine, hello.machine)) {
    return isInUse ? 'this machine has another machine id or board number' : null;
  }
  if (isInUse && hello.machine?.copyOf === node.instance)
    return "its folder is a copy of the node's";
  const { upMs } = hello;
  if (heardMsAgo !== undefined && upMs !== undefined) {
    const slackMs = SLACK_MS + upMs * SLACK_SHARE;
    if (upMs > heardMsAgo + slackMs) return 'the node was heard of while this machine was up';
  }
  // Any of them may have been restarted: its new boot says nothing of the others.
  const isApart = node.clones.every(({ machine }) => isOtherMachine(machine, hello.machine));
  if (node.clones.length > 0 && !(isApart && isSameMachine(node.machine, hello.machine))) {
    return 'nothing tells which machine with its identity this is';
  }
  return null;
}

/**
 * One of the machines becomes another node (N19). Null: it was not known here, or is the one that
 * the node is while something may run there.
 */
export function settledBy(state: State, { node: name, bootId, folder }: CopyOf): Settled | null {
  const node = state.nodes.get(name);
  if (node === undefined) return null;
  const said = { bootId, ...(folder === undefined ? {} : { machine: { folder } }) };
  const gone = node.clones.find((one) => isOneMachine(one, said));
  const settled = { kind: 'node_clones_settled', node: name, by: 'enrolment' } as const;
  if (gone !== undefined) {
    return { ...settled, clones: node.clones.filter((one) => one !== gone), isOther: false };
  }
  const isNode = isOneMachine(node, said) && node.holding.size === 0;
  return isNode ? { ...settled, clones: [], isOther: true } : null;
}

type Settled = Of<'node_clones_settled'>;

export function applyCloneSeen(state: State, { node: name, clone }: Of<'node_clone_seen'>): void {
  const node = nodeOf(state, name);
  // A copy that was restarted is one copy, where its machine can be told.
  const others = node.clones.filter(({ machine }) => {
    return !isSameMachine(machine, clone.machine) || isOtherFolder(machine, clone.machine);
  });
  node.clones = [...others, clone].slice(-CLONES_MAX);
  refreshPool(state, node);
}

export function applyClonesSettled(state: State, { node: name, clones, isOther }: Settled): void {
  const node = nodeOf(state, name);
  node.clones = clones;
  if (clones.length === 0) node.formerBoots = [];
  if (isOther) forgetMachine(node);
  refreshPool(state, node);
}
