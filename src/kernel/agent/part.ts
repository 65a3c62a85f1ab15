// What a wing does in the agent of a node: for the starts of its own tasks, and beside the agent's
// work for as long as that lives. An agent is given the parts of all wings, and asks them in order.

import type { Result } from '../base/result.ts';
import type { Device } from '../model/device.ts';
import type { Refusal } from '../model/errors.ts';
import type { CardUse, NodeGpus } from '../model/gpu.ts';
import type { LaunchOrder, Share } from '../model/orders.ts';
import type { Presence } from '../model/presence.ts';
import type { ProcessEvent } from '../model/processes.ts';
import type { Owner } from '../ports/files.ts';
import type { LaunchRequest } from '../ports/processes.ts';
import type { ProvenUser } from '../ports/proofs.ts';
import type { UserAccount } from '../ports/users.ts';
import type { Epoch } from '../runner/epoch.ts';
import type { RunnerInput } from '../runner/inputs.ts';
import type { RunnerState } from '../runner/state.ts';
import type { Pausing } from './pausing.ts';
import type { AgentSettings, AllPorts } from './ports.ts';

/** One wing's, for one node. */
export interface AgentPart {
  /** Longest pause of the node that anybody may ask for; absent: the default. */
  readonly pauseMaxMs?: number;
  /** Variables of a task, beside those that every task has. */
  variables?(of: Surroundings): Variables;
  /** Devices that a user's task with this share may not open. */
  shut?(share: Share): readonly Device[];
  /** What runs in place of the order's own program, and reads no input; undefined: that program. */
  argv?(start: Start): readonly string[] | undefined;
  /** Called once, when the agent is made: before anything is heard of launcher or head. */
  accompany?(agent: AgentInside): Companion;
}

export interface Surroundings {
  readonly order: LaunchOrder;
  readonly account: UserAccount;
  readonly hostFile: string;
  /** Private directory for temporary files; null = the system's own. */
  readonly temporary: string | null;
  readonly settings: AgentSettings;
}

export interface Variables {
  /** A job's own value is taken in their place. */
  readonly usual?: Readonly<Record<string, string>>;
  /** Only the agent gives them a value. */
  readonly ours?: Readonly<Record<string, string>>;
  /** The same of what differs between the processes of the task here, by their number from 0. */
  readonly ofRank?: (rank: number) => Readonly<Record<string, string>>;
  /** Names among `usual` and `ours` by which only the task's own processes find each other. */
  readonly ofProcesses?: readonly string[];
}

/** One process that is about to be started. */
export interface Start {
  readonly order: LaunchOrder;
  readonly directory: string;
  /** `NAME=value`, the same for all processes of the task here. */
  readonly environment: readonly string[];
  /** The process's WEFT_LAUNCH. */
  readonly mark: string;
}

/** An agent as a companion sees it. */
export interface AgentInside {
  readonly ports: AllPorts;
  readonly settings: AgentSettings;
  readonly state: RunnerState;
  readonly pausing: Pausing;
  readonly step: (input: RunnerInput) => void;
  /** A heartbeat out of turn: what it says has changed. */
  readonly sayAlive: () => void;
  /** Says hello once more: what the node offers has changed. */
  readonly introduce: () => void;
  /** What the node tells of its cards; null: nothing. */
  readonly gpus: () => NodeGpus | null;
  /** How much the node's cards are used; empty: nobody looks. */
  readonly cardUse: () => readonly CardUse[];
  /** To the wing's half in the head; false when there is none that could hear it now. */
  readonly say: (wing: string, body: object) => boolean;
  /** Programs inside of what a task has here. */
  readonly beside: Beside;
  /** What wings answer to users of the machine at the agent's own socket, by path. */
  readonly atSocket: Map<string, AtSocket>;
}

/** The kernel has said who asks. */
export type AtSocket = (
  user: ProvenUser,
  body: Readonly<Record<string, unknown>>,
) => Promise<Result<object, Refusal>>;

/**
 * Starts programs beside the processes of a task, in its group and with what it has. They are in no
 * journal: the agent that finds one of an earlier life ends it. An id is never used again.
 */
export interface Beside {
  /** What the processes of a running epoch were started with; an error says why it is unknown. */
  joining(epoch: Epoch): Promise<Result<Joining, string>>;
  /** The launch id; null without a launcher. Last comes the end, or `lost` if nobody can say. */
  start(
    request: Omit<LaunchRequest, 'launchId'>,
    heard: (event: ProcessEvent) => void,
  ): number | null;
  /** To the program and what it has started. */
  signal(launchId: number, signal: number): void;
}

/** To be started with, by whoever fills in program, input and output. */
export interface Joining {
  readonly request: Omit<LaunchRequest, 'launchId'>;
  /** By it the task's end finds a process (`WEFT_LAUNCH`). */
  readonly mark: string;
  /** Null: the agent's own user. */
  readonly owner: Owner | null;
}

/**
 * `count`: how many gpus the node offers, in place of what was found when its agent was started;
 * `counted`: what else it offers.
 */
export interface GpuReport {
  readonly count: number;
  readonly counted: Readonly<Record<string, number>>;
  readonly gpus: NodeGpus;
}

/** The share of a machine that stays its owner's, and for whom the rest is. */
export interface Kept {
  /** Users whose jobs alone are taken; null: those of all. */
  readonly takesFrom: readonly string[] | null;
  /** Not offered to tasks. */
  readonly cpuCount: number;
  readonly gpuCount: number;
  /** Why no new work is taken; null: it is. */
  readonly fault: string | null;
}

/** Lives with the agent, and hears of its moments. */
export interface Companion {
  /** What ran before is adopted: looks before anybody judges how long that took. */
  adopt?(): void;
  /** The agent works, and is about to dial its head. */
  begin?(): void;
  /** The launcher was asked to start this. */
  started?(epoch: Epoch): void;
  /** The main processes of it are gone: what is left is about to be ended. */
  ended?(epoch: Epoch): void;
  /** A head has taken this agent for its node. `hears`: it has wings that hear. */
  greeted?(hears: boolean): void;
  /** The session is over. */
  parted?(): void;
  /** What a wing's half in the head says. */
  heard?(wing: string, body: unknown): void;
  /** Users of the machine, for the head; null when the node does not look. */
  presence?(): readonly Presence[] | null;
  /** The node's cards, the same value as long as nothing has changed; null: it does not look. */
  gpus?(): GpuReport | null;
  /** The owner's share; the same object until it changes. Null: the owner keeps nothing. */
  kept?(): Kept | null;
  /** How much the node's cards are used, by the last look. */
  cardUse?(): readonly CardUse[];
  /** Lets go of what takes time to let go; `stop` follows. */
  close?(): Promise<void>;
  stop?(): void;
}
