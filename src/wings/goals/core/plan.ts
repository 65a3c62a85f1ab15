// Which nodes are repaired next. At most so many of a partition at once, never the last that works
// there, and after two repairs without success no further one: then a person has to look.

import type { Difference, GoalClass } from './goal.ts';

/** Repairs in a row that are tried. */
export const REPAIRS_MAX = 2;

/** A node as far as repairs matter. */
export interface GoalNode {
  readonly name: string;
  /** The goals that it is to meet. */
  readonly class: GoalClass;
  /** Null: not looked at yet. */
  readonly differences: readonly Difference[] | null;
  /** The node is connected and takes orders. */
  readonly connected: boolean;
  /** The node gets work. */
  readonly inService: boolean;
  /** A maintenance has it, or is planned for it; `goal`: a repair. */
  readonly maintenance: 'goal' | 'other' | null;
  /** The node's last repair; null: there was none, or the node was fine after it. */
  readonly last: LastRepair | null;
  /** What keeps the node drained; null: nothing. `repair`: a repair of goals that failed. */
  readonly drainedBy: 'repair' | 'other' | null;
  readonly partitions: readonly string[];
}

export interface LastRepair {
  readonly id: string;
  /** 1, 2, … of those in a row. */
  readonly attempt: number;
}

export type GoalStep =
  | { readonly kind: 'repair'; readonly node: GoalNode; readonly attempt: number }
  /** The node is fine again: back to service. */
  | { readonly kind: 'restore'; readonly node: GoalNode }
  | { readonly kind: 'give_up'; readonly node: GoalNode }
  /** Nothing is done, and why. */
  | { readonly kind: 'wait'; readonly node: GoalNode; readonly because: string };

/** One step for each node that does not meet its goals, or has just come to meet them. */
export function planGoals(nodes: readonly GoalNode[]): GoalStep[] {
  const books = new Map<string, Book>();
  for (const node of nodes) for (const name of node.partitions) note(books, name, node);
  return nodes.flatMap((node) => stepOf(node, books) ?? []);
}

/** What a partition has. */
interface Book {
  repairs: number;
  inService: number;
}

function note(books: Map<string, Book>, name: string, node: GoalNode): void {
  const book = books.get(name) ?? { repairs: 0, inService: 0 };
  if (node.maintenance === 'goal') book.repairs += 1;
  // One that is about to be taken out does not keep the partition going.
  if (node.inService && node.maintenance === null) book.inService += 1;
  books.set(name, book);
}

function stepOf(node: GoalNode, books: ReadonlyMap<string, Book>): GoalStep | null {
  const { differences, maintenance, last, drainedBy } = node;
  if (maintenance === 'goal' || differences === null) return null;
  if (differences.length === 0) {
    return drainedBy === 'repair' ? { kind: 'restore', node } : null;
  }
  const attempt = (last?.attempt ?? 0) + 1;
  if (attempt > REPAIRS_MAX) return drainedBy === null ? { kind: 'give_up', node } : null;
  const because = obstacleOf(node, books);
  if (because !== null) return { kind: 'wait', node, because };
  take(node, books);
  return { kind: 'repair', node, attempt };
}

function obstacleOf(node: GoalNode, books: ReadonlyMap<string, Book>): string | null {
  const { differences, class: of, connected, inService, maintenance, partitions, drainedBy } = node;
  if (!(differences ?? []).some(({ canRepair }) => canRepair)) return 'no repair is known';
  if (maintenance === 'other') return 'it is in, or planned for, another maintenance';
  if (!connected) return 'it is not connected';
  if (drainedBy === 'other') return 'it is drained; undrain it to have it repaired';
  for (const name of partitions) {
    const { repairs, inService: others } = books.get(name) as Book;
    if (repairs >= of.atOnce)
      return `${repairs} of partition ${name} in repair; at once ${of.atOnce}`;
    if (inService && others <= 1) return `it is the last node of partition ${name} in service`;
  }
  return null;
}

/** From here on it counts as one in repair. */
function take({ partitions, inService }: GoalNode, books: ReadonlyMap<string, Book>): void {
  for (const name of partitions) {
    const book = books.get(name) as Book;
    book.repairs += 1;
    if (inService) book.inService -= 1;
  }
}
