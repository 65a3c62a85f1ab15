// Nodes coming, going, and staying silent: what each means for the epochs they hold.

import { formatDuration } from '../../base/duration.ts';
import { ok, type Result } from '../../base/result.ts';
import type { Refusal } from '../../model/errors.ts';
import type { EpochId, NodeName } from '../../model/ids.ts';
import { NO_USAGE } from '../../model/job.ts';
import { LEASE_MARGIN_MS } from '../../model/limits.ts';
import type { NodeHello } from '../../model/node.ts';
import type { HeldEpoch } from '../../model/orders.ts';
import type { Task } from '../jobs/facts.ts';
import { decidePauseAtHello } from '../pauses/report.ts';
import type { Reply } from '../reply.ts';
import type { Step } from '../step.ts';
import { abandonEpoch, settleTask } from '../tasks/ending.ts';
import { decideHeldState } from '../tasks/held-state.ts';
import type { Holding, Node } from './facts.ts';
import { lossRuleOf } from './loss-rule.ts';
import { reservedAhead } from './reserved-ahead.ts';

/** A node (re)connects and says what it holds: the moment of evidence. */
export function decideHello(step: Step, said: NodeHello): Result<Reply, Refusal> {
  const node = step.state.nodes.get(said.node);
  if (node === undefined) return step.refuse('node.not_found', { node: said.node });
  const hello = { ...said, held: said.held.map((one) => heldHere(one, node.name)) };
  for (const one of hello.held) dropNamesake(step, node, one);
  const held = new Set(hello.held.map((one) => one.epochId));
  const before = [...node.holding.values()];
  // What runs at a site outlives the machine of its gateway, and so does what was ordered there.
  const isRestarted = node.bootId !== hello.bootId && hello.facts.site === undefined;
  const forgot = isRestarted || node.instance !== hello.instance;
  const stale = [...held].filter((epochId) => !node.holding.has(epochId));
  // Before the event: it replaces what is compared here.
  const remembers = node.instance === hello.instance;
  const why = node.bootId === hello.bootId ? 'came back without the task' : 'was restarted';
  step.emit({ kind: 'node_connected', session: node.session + 1, hello, stale });
  for (const holding of before) {
    if (held.has(holding.epochId)) continue;
    // An order that never arrived is simply sent again - unless the node may have forgotten it.
    if (!forgot && holding.task?.parts.get(node.name)?.state === 'ordered') {
      takeBackLate(step, node.name, holding.epochId, holding.task);
      continue;
    }
    if (remembers && mayTell(hello, holding)) {
      step.emit({ kind: 'part_asked', epochId: holding.epochId, node: node.name });
      continue;
    }
    dropHolding(step, node.name, holding, `${node.name} ${why}`);
  }
  for (const one of hello.held) {
    placeHeld(step, node, one);
    decideHeldState(step, node, one);
  }
  decidePauseAtHello(step, node, hello);
  return ok({ kind: 'done' });
}

/** The node has given it a place of which nothing was heard. */
function placeHeld(step: Step, node: Node, { epochId, isNext }: HeldEpoch): void {
  const holding = node.holding.get(epochId);
  if (holding === undefined || holding.next === null || isNext) return;
  step.emit({ kind: 'part_placed', epochId, node: node.name, begun: true });
}

/**
 * What the node holds under this number is another start, given by another life of this head: ours
 * never got there.
 */
function dropNamesake(step: Step, node: Node, { epochId, life }: HeldEpoch): void {
  const task = node.holding.get(epochId)?.task;
  if (task == null || task.life === null || life === undefined || task.life === life) return;
  const detail = `${node.name} holds another start of this number, of before the head was put back`;
  const none = { processes: [], usage: NO_USAGE };
  const why = { cause: 'never_started', nodeFault: false, detail } as const;
  step.emit({ kind: 'part_ended', epochId, node: node.name, ...why, ...none });
  settleTask(step, task);
}

/**
 * True when the node has reported this end to a head that lost it, as it was restored from an older
 * copy. Nodes remember ends for a while.
 */
function mayTell({ features = [] }: NodeHello, { task }: Holding): boolean {
  return features.includes('answers') && task !== null && task.life !== null;
}

/** A node speaks for itself only: what it holds, it holds here. */
function heldHere(held: HeldEpoch, node: NodeName): HeldEpoch {
  return { ...held, share: { ...held.share, node } };
}

export function decideDisconnected(step: Step, name: NodeName, session: number): void {
  const node = step.state.nodes.get(name);
  if (node === undefined || node.session !== session || !node.connected) return;
  step.emit({ kind: 'node_disconnected', node: name, session });
}

/** A connected node says whether it can take new work; nothing that it runs is touched. */
export function decideFault(
  step: Step,
  name: NodeName,
  session: number,
  fault: string | null,
): void {
  const node = step.state.nodes.get(name);
  if (node === undefined || node.session !== session || node.fault === fault) return;
  step.emit({ kind: 'node_fault_changed', node: name, fault });
}

/** A node beyond the time-out: requeue what needs no evidence, and expired leases. */
export function decideSilence(step: Step, name: NodeName, silentMs: number): void {
  const node = step.state.nodes.get(name);
  if (node === undefined || silentMs < step.settings.nodeTimeoutMs) return;
  if (node.session === 0) return;
  if (node.unreachableSince === null) step.emit({ kind: 'node_unreachable', node: name });
  const words = `${name} has been silent for ${formatDuration(Math.floor(silentMs / 1000) * 1000)}`;
  for (const holding of [...node.holding.values()]) {
    const { task } = holding;
    if (task === null) continue;
    const onNodeLoss = lossRuleOf(node, task.job.spec);
    if (onNodeLoss.kind === 'requeue') abandonEpoch(step, task, words);
    if (onNodeLoss.kind !== 'lease') continue;
    const overMs = onNodeLoss.leaseMs + step.settings.killGraceMs + LEASE_MARGIN_MS;
    if (silentMs >= overMs) loseLeased(step, node, holding, task, words);
  }
}

/**
 * The agent has ended it by now, or its launcher where the agent is dead: both count from the last
 * heartbeat that we answered. With other parts still to end, the epoch goes on to its end without
 * this one; a part on another silent node ends when that node's own silence is as long.
 */
function loseLeased(step: Step, node: Node, holding: Holding, task: Task, words: string): void {
  const others = [...task.parts.values()].filter((part) => part.share.node !== node.name);
  if (others.every((part) => part.state === 'ended')) {
    abandonEpoch(step, task, `${words}, longer than its lease`);
    return;
  }
  endLost(step, node.name, holding.epochId, `${words}, longer than its lease`);
  settleTask(step, task);
}

/** Evidence, unless the node was heard of since: then it was on again, and speaks for itself. */
export function decideFenced(step: Step, name: NodeName, session: number): void {
  const node = step.state.nodes.get(name);
  if (node === undefined || node.session !== session || node.connected) return;
  if (node.holding.size === 0 || node.clones.length > 0) return;
  loseNode(step, node, { by: 'fence command', why: `${name} was switched off` });
}

/** Everything that the node held is over. Returns how many claims went. */
export function loseNode(step: Step, node: Node, { by, why }: { by: string; why: string }): number {
  const holdings = [...node.holding.values()];
  for (const holding of holdings) dropHolding(step, node.name, holding, why);
  step.emit({ kind: 'node_declared_lost', node: node.name, by });
  return holdings.length;
}

/** The epoch's processes on this node are known to be gone. */
function dropHolding(step: Step, node: NodeName, holding: Holding, why: string): void {
  const { task, epochId } = holding;
  if (task === null) {
    step.emit({ kind: 'claim_dropped', epochId, node });
    return;
  }
  if (task.job.spec.foreign === undefined) endLost(step, node, epochId, why);
  else endUnseen(step, node, epochId, why);
  settleTask(step, task);
}

/** What a user gave to a site itself its site goes on with, whatever became of the gateway. */
function endUnseen(step: Step, node: NodeName, epochId: EpochId, why: string): void {
  const detail = `${why}; its site says what became of it`;
  const said = { cause: 'never_started', nodeFault: false, detail } as const;
  step.emit({ kind: 'part_ended', epochId, node, ...said, processes: [], usage: NO_USAGE });
}

function endLost(step: Step, node: NodeName, epochId: EpochId, detail: string): void {
  const none = { processes: [], usage: NO_USAGE };
  step.emit({ kind: 'part_ended', epochId, node, cause: 'lost', nodeFault: true, ...none, detail });
}

/**
 * A start that comes later than it was planned could run into what is set aside by now: then the
 * scheduler decides anew. Not where that would end a task for good.
 */
function takeBackLate(step: Step, node: NodeName, epochId: EpochId, task: Task): void {
  const { job, parts, ending } = task;
  if (ending !== null || job.spec.system !== undefined) return;
  if (!job.spec.requeue && [...parts.values()].some((part) => part.state !== 'ordered')) return;
  const other = reservedAhead(step.state, node, job.spec, step.at);
  if (other === null) return;
  const none = { processes: [], usage: NO_USAGE };
  const detail = `its order came late, and it could run into ${other}`;
  const why = { cause: 'never_started', nodeFault: false, detail } as const;
  step.emit({ kind: 'part_ended', epochId, node, ...why, ...none });
  settleTask(step, task);
}
