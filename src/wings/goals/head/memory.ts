// What is known of a node until the head ends, and what follows of it for the plan of repairs.

import type { Node } from '../../../kernel/machine/nodes/facts.ts';
import type { JobId } from '../../../kernel/model/ids.ts';
import { type CheckResult, compareGoals } from '../core/compare.ts';
import type { GoalClass, GoalFact, GoalTest } from '../core/goal.ts';
import type { GoalNode } from '../core/plan.ts';
import { areCardsSettled, factsOf, isTold } from './facts.ts';
import { goalNode, repairedAt, type Seen, takenUntil } from './nodes.ts';

export interface Memory {
  /** When the look began that found the results. */
  lookedAt: number;
  results: ReadonlyMap<string, CheckResult>;
  /** The look that is under way; without its job it is about to begin. */
  look: { readonly jobId: JobId | null; readonly at: number; isRead: boolean } | null;
  isDue: boolean;
  metAt: number;
  /** The repair was given up, and the node is drained since then. */
  gaveUp: boolean;
  /** Somebody asked for its repair. */
  isAsked: boolean;
  refused: { readonly until: number; readonly why: string } | null;
  /** What happens to it next, in words. */
  next: string | null;
}

export function newMemory(): Memory {
  return {
    lookedAt: 0,
    results: new Map(),
    look: null,
    isDue: true,
    metAt: 0,
    gaveUp: false,
    isAsked: false,
    refused: null,
    next: null,
  };
}

/** A node that is to be as its class says. */
export interface WatchedNode {
  readonly node: Node;
  readonly memory: Memory;
  readonly of: GoalClass;
}

/** Listings of a site, and what its nodes say of themselves, may be so old. */
const ECHO_MS = 15_000;

export function judged(seen: Seen, { node, memory, of }: WatchedNode, now: number): GoalNode {
  const { state } = seen;
  const { lookedAt, results, metAt } = memory;
  // Its site may have it for stopped a while after its maintenance, which is no fault.
  const isSettled = node.fault === null || now - takenUntil(state, node) >= ECHO_MS;
  const repaired = repairedAt(state, node);
  const asksForCards = of.goals.some(({ test }) => isOf(test, 'gpu_fault'));
  const areCards = !asksForCards || areCardsSettled(node, repaired, now);
  const isFresh = lookedAt > 0 && lookedAt >= repaired && isSettled && areCards;
  const found = isFresh ? compareGoals(of.goals, factsOf(state, node), results) : null;
  // What is not known is not fine either: a node goes back to service on evidence only.
  const isWhole = of.goals.every(({ name, test }) => {
    return test.kind === 'fact' ? isTold(state, node, test.fact) : results.has(name);
  });
  const differences = found?.length === 0 && !isWhole ? null : found;
  return goalNode(seen, node, { class: of, differences, metAt });
}

function isOf(test: GoalTest, fact: GoalFact): boolean {
  return test.kind === 'fact' && test.fact === fact;
}
