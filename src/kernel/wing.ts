// What a wing is to the kernel: what it contributes, by what the kernel asks for. A wing that
// contributes nothing of a kind leaves it out.

import type { AgentPart } from './agent/part.ts';
import type { AgentOptions } from './config/daemon-options.ts';
import type { Log } from './ports/log.ts';

export interface Wing {
  readonly name: string;
  /** Other wings that this one imports; no circle. */
  readonly needs: readonly string[];
  /** What it does in agents; loaded by programs that have some. */
  readonly agent?: () => Promise<AgentMaker>;
}

/** Makes a wing's part in the agent of one node. Throws with words when its options cannot be. */
export type AgentMaker = (node: HostedNode) => AgentPart;

/** A node whose agent a program runs. */
export interface HostedNode {
  readonly options: AgentOptions;
  readonly log: Log;
  /** How many nodes the program has. */
  readonly nodeCount: number;
}
