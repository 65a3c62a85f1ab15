// What head and agents say to each other, by direction. One session carries whole messages in
// order; docs/protocol.md has the table.

import type { NodeGpus } from '../model/gpu.ts';
import type { EpochId } from '../model/ids.ts';
import type { Stamp } from '../model/life.ts';
import type { MemoryUse } from '../model/memory-use.ts';
import type { NodeHello } from '../model/node.ts';
import { NODE_FEATURES } from '../model/node-features.ts';
import type { Order, Report } from '../model/orders.ts';
import type { Presence } from '../model/presence.ts';
import type { SiteHold, SiteJobPlace, SiteNews, StopRequest } from '../model/site.ts';

/** Raised when a message changes its meaning; a peer with another number is refused. */
export const PROTOCOL_VERSION = 1;

/**
 * What one side can do that an earlier release with the same protocol number may not, so that the
 * other relies on it only where it is said. Unknown words mean nothing. The agents' words are for
 * jobs that ask for them (model/node-features.ts).
 */
export const AGENT_FEATURES: readonly string[] = [
  ...NODE_FEATURES,
  'site_ask',
  'site_holds',
  'wings',
  'scripts',
];

/** Between two halves of a wing, which know the form of `body`. Only said where both take it. */
export interface WingMessage {
  readonly kind: 'wing';
  readonly wing: string;
  readonly body: unknown;
}
/**
 * `sites`: it takes what gateways say of their sites. `wings`: messages of kind `wing`.
 * `short_beats`: the short form of a heartbeat, and that its answer may wait.
 */
export const HEAD_FEATURES: readonly string[] = ['sites', 'wings', 'short_beats'];

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
  | WingMessage
  /** `dialedAt`: the agent's monotonic clock; tells which of two connections is the newer one. */
  | {
      readonly kind: 'hello';
      readonly protocol: number;
      readonly hello: NodeHello;
      readonly dialedAt: number;
      /** `AGENT_FEATURES`, or those of the agent's release. */
      readonly features: readonly string[];
      /** The newest that it has heard of any head. Absent: none has said one. */
      readonly stamp?: Stamp;
    }
  | Heartbeat
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
  /** What a gateway says of its site. Only said to heads that take it. */
  | { readonly kind: 'site'; readonly news: SiteNews }
  /** The process has been given its standard input up to `offset`; with `end`, all of it. */
  | {
      readonly kind: 'stdin_ack';
      readonly epochId: EpochId;
      readonly offset: number;
      readonly end: boolean;
    };

/** The agent is alive. */
export interface Heartbeat {
  readonly kind: 'heartbeat';
  /** The agent's monotonic clock; comes back in the acknowledgement and renews leases. */
  readonly sentAt: number;
  /** The agent's wall clock, only to be compared for people. */
  readonly at: number;
  readonly load: NodeLoad;
  /** The same as in the hello. */
  readonly fault?: string;
  /** Users of the agent's machine; absent: as last told in this session, at first nothing. */
  readonly presence?: readonly Presence[];
  /** The node's cards; absent: as reported last in this session. */
  readonly gpus?: NodeGpus;
  /** Memory of its tasks; absent: as last told in this session, at first none. */
  readonly memory?: readonly MemoryUse[];
  /** The answer need not come before the next message with orders. Only with `short_beats`. */
  readonly mayWait?: boolean;
}

export interface NodeLoad {
  readonly load1: number;
  readonly memoryFreeBytes: number;
  readonly diskFreeBytes: number;
}

/** How far the head has come, with what depends on it. Absent: of an older head. */
interface Stamped {
  readonly stamp?: Stamp;
}

export type HeadToAgent =
  | WingMessage
  | ({
      readonly kind: 'welcome';
      readonly session: number;
      readonly heartbeatMs: number;
      readonly nodeTimeoutMs: number;
      readonly killGraceMs: number;
      readonly logBytesMax: number;
      /** `HEAD_FEATURES`, or those of the head's release. */
      readonly features: readonly string[];
    } & Stamped)
  | {
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
      readonly details: Readonly<Record<string, string>>;
    }
  | ({ readonly kind: 'heartbeat_ack'; readonly sentAt: number } & Stamped)
  | ({ readonly kind: 'orders'; readonly orders: readonly Order[] } & Stamped)
  /** To a gateway: jobs that are cancelled here, and that its site still has. */
  | { readonly kind: 'site_cancel'; readonly jobs: readonly SiteJobPlace[] }
  /** Jobs that no listing has any more: a gateway asks its site for each. Only with `site_ask`. */
  | { readonly kind: 'site_ask'; readonly jobs: readonly string[] }
  /** All jobs of its users held at the head, whenever that changes. Only with `site_holds`. */
  | { readonly kind: 'site_holds'; readonly jobs: readonly SiteHold[] }
  /** To a gateway that has said what it has stopped: all that its site is to keep stopped now. */
  | {
      readonly kind: 'site_stops';
      readonly stops: readonly StopRequest[];
      /** 1, 2, … in a session: the gateway says which it has heard. Absent: of an older head. */
      readonly number?: number;
    }
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
  | ({ readonly kind: 'reports_ack'; readonly upTo: number } & Stamped)
  /** The head has this file up to `offset`; with `end`, all: the piece that said so is kept. */
  | {
      readonly kind: 'log_ack';
      readonly name: LogName;
      readonly offset: number;
      readonly end: boolean;
    };
