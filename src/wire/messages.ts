// What head and agents say to each other, by direction. One session carries whole messages in
// order; docs/protocol.md has the table.

import type { EpochId } from '../core/model/ids.ts';
import type { NodeHello } from '../core/model/node.ts';
import type { Order, Report } from '../core/model/orders.ts';

/** Raised when a message changes its meaning; a peer with another number is refused. */
export const PROTOCOL_VERSION = 1;

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
      /** It reads orders that leave out what the one before them says: wire/orders.ts. */
      readonly takesShortOrders?: boolean;
    }
  | {
      readonly kind: 'heartbeat';
      /** The agent's monotonic clock; comes back in the acknowledgement and renews leases. */
      readonly sentAt: number;
      /** Its wall clock, only to be compared for people. An agent of 0.1.0 does not say. */
      readonly at?: number;
      readonly load: NodeLoad;
      /** As in the hello. */
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
      /** It reads in the report of an end that there is no output: `silentNodeRank`. */
      readonly takesSilentEnds?: boolean;
    }
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly details: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'heartbeat_ack'; readonly sentAt: number }
  | { readonly kind: 'orders'; readonly orders: readonly Order[] }
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
