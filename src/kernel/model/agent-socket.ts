// What a node's agent does for the users of its machine, over a unix socket of its own: paths of
// requests and what goes with them. It works without a head.

import type { OwnerPause, Pause } from './pause.ts';
import type { Presence } from './presence.ts';

/** POST with JSON, but for `status`. Each proof of who asks is good for one request. */
export const AGENT_PATHS = {
  status: '/v1/status',
  proof: '/v1/proof',
  pause: '/v1/pause',
  unpause: '/v1/unpause',
  session: '/v1/session',
  /** For what wings add to it (`AgentInside.atSocket`). */
  login: '/v1/login',
  keepGpu: '/v1/gpus/keep',
} as const;

/** A directory to make at `path`; see src/kernel/api/local-login.ts. */
export interface ProofAsked {
  readonly challenge: string;
  readonly path: string;
}

export interface PauseReply {
  readonly node: string;
  readonly pause: OwnerPause;
  /** How many tasks stand still for it. */
  readonly tasks: number;
}

/** A gpu that is kept for whoever asked. */
export interface KeepReply {
  readonly node: string;
  /** What people call it. */
  readonly gpu: string;
  readonly until: number;
  /** Those that have it, and keep it. */
  readonly tasks: readonly string[];
  /** Whether it was kept before. Absent: an older agent does not say. */
  readonly wasKept?: boolean;
  /** What keeps it from being given now, in words; null: nothing. Absent as that. */
  readonly why?: string | null;
}

export interface AgentStatus {
  readonly node: string;
  readonly pause: Pause | null;
  /** Longest pause that anybody may ask for. */
  readonly pauseMaxMs: number;
  /** Users of the machine; null when the node does not look. */
  readonly presence: readonly Presence[] | null;
  /** The head has taken the agent for its node; absent: an older agent does not say. */
  readonly isConnected?: boolean;
}

export interface SessionReply {
  readonly node: string;
  /** False: its configuration does not ask for it. */
  readonly wanted: boolean;
}
