// What head and agents say to each other, by direction. One session carries whole messages in
// order; docs/protocol.md has the table.

import type { EpochId } from '../core/model/ids.ts';
import type { NodeHello } from '../core/model/node.ts';
import { NODE_FEATURES } from '../core/model/node-features.ts';
import type { Order, Report } from '../core/model/orders.ts';

/** Raised when a message changes its meaning; a peer with another number is refused. */
export const PROTOCOL_VERSION = 1;

/**
 * What one side may leave out or add when the other understands it. Unknown words mean nothing.
 * `kept_orders`: launch orders may refer to an earlier one of the session (wire/orders.ts).
 * The others are for jobs that ask for them (core/model/node-features.ts).
 */
export const AGENT_FEATURES = ['kept_orders', ...NODE_FEATURES] as const;
/**
 * `silent_ends`: the report of an end may say that there is no output: `silentNodeRank`. `pauses`:
 * it takes reports of pauses.
 */
export const HEAD_FEATURES = ['silent_ends', 'log_tails', 'pauses'] as const;

/** Whether the peer whose hello or welcome this is understands it. */
export function understands(
  said: { readonly features?: readonly string[] },
  feature: (typeof AGENT_FEATURES)[number] | (typeof HEAD_FEATURES)[number],
): boolean {
  return said.features?.includes(feature) ?? false;
}

/** Which of a process's two output files. */
export type Stream = 'stdout' | 'stderr';

/** One file of output: process `rank` of one node's part of an epoch. */
export interface LogName {
  readonly epochId: EpochId;
  readonly nodeRank: number;
  readonly rank: number;
  readonly stream: Stream;
}

export type AgentToHead =
  /** `dialedAt`: the agent's monotonic clock; tells which of two connections is the newer one. */
  | {
      readonly kind: 'hello';
      readonly protocol: number;
      readonly hello: NodeHello;
      readonly dialedAt?: number;
      /** What the agent understands beyond the first release. */
      readonly features?: readonly string[];
    }
  | {
      readonly kind: 'heartbeat';
      /** The agent's monotonic clock; comes back in the acknowledgement and renews leases. */
      readonly sentAt: number;
      /** Its wall clock, only to be compared for people. An agent of 0.1.0 does not say. */
      readonly at?: number;
      readonly load: NodeLoad;
      /** The same as in the hello. */
      readonly fault?: string;
    }
  /** Numbered from 1 per session: `reports[i]` has number `first + i`. */
  | { readonly kind: 'reports'; readonly first: number; readonly reports: readonly Report[] }
  /** The next piece of an output file. `end`: the file is complete with this piece. */
  | {
      readonly kind: 'log';
      readonly name: LogName;
      readonly offset: number;
      readonly bytes: Uint8Array;
      readonly end: boolean;
      /** Bytes left out because the file is over the limit. */
      readonly dropped: number;
      /** With `end`: the last bytes of a file over the limit, `dropped` bytes after the piece. */
      readonly tail?: Uint8Array;
    }
  /** The process has been given its standard input up to `offset`; with `end`, all of it. */
  | {
      readonly kind: 'stdin_ack';
      readonly epochId: EpochId;
      readonly offset: number;
      readonly end: boolean;
    };

export interface NodeLoad {
  readonly load1: number;
  readonly memoryFreeBytes: number;
  readonly diskFreeBytes: number;
}

export type HeadToAgent =
  | {
      readonly kind: 'welcome';
      readonly session: number;
      readonly heartbeatMs: number;
      readonly nodeTimeoutMs: number;
      readonly killGraceMs: number;
      readonly logBytesMax: number;
      /** What the head understands beyond the first release. */
      readonly features?: readonly string[];
    }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly details: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'heartbeat_ack'; readonly sentAt: number }
  | { readonly kind: 'orders'; readonly orders: readonly Order[] }
  /** A piece of standard input; only for epochs whose order says that a client sends it. */
  | {
      readonly kind: 'stdin';
      readonly epochId: EpochId;
      readonly offset: number;
      readonly bytes: Uint8Array;
      /** Nothing comes after this piece. */
      readonly end: boolean;
    }
  /** Every report up to this number is in the journal. */
  | { readonly kind: 'reports_ack'; readonly upTo: number }
  /**
   * The head has this file up to `offset`; with `end`, all of it: the piece that said so is kept.
   * A head of 0.1.0 says no `end`: there an offset as far as the end piece's has to do.
   */
  | {
      readonly kind: 'log_ack';
      readonly name: LogName;
      readonly offset: number;
      readonly end?: boolean;
    };
