// The steered site of a chaos run, and what its users gave to it by its own commands.

/** The gateway; its nodes are `n1.hpc` and so on. */
export const SITE = 'hpc';

/** A job as its user asked for it; its key is its name there. */
export interface TheirWork {
  readonly key: string;
  /** Elements 0 to n-1 of an array; null: a plain job. */
  readonly arraySize: number | null;
  readonly nodeCount: number;
  /** Cpus of each node. */
  readonly cpuCount: number;
  /** What its user says of where it is to run. */
  readonly words: readonly string[];
  /** Where that lets it run; empty: no plan keeps to it, so that it is held. */
  readonly nodes: readonly string[];
  /** Tenths of a second that each process runs. */
  readonly beats: number;
  readonly exitCode: number;
  /** After how long the user cancels it; null: never. */
  readonly cancelAfterMs: number | null;
}

export interface Given {
  readonly work: TheirWork;
  /** The site's own. */
  readonly id: string;
  /** The site had taken the order; null: nobody gave one. */
  readonly cancelledAt: number | null;
}

/** The node's site; null: it is a node of our own. */
export function siteOf(node: string): string | null {
  return node.endsWith(`.${SITE}`) ? SITE : null;
}
