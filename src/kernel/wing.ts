// What a wing is to the kernel: what it contributes, by what the kernel asks for. A wing that
// contributes nothing of a kind leaves it out.

import type { Agent } from './agent/agent.ts';
import type { AgentPart } from './agent/part.ts';
import type { AgentPorts } from './agent/ports.ts';
import type { ApiPart } from './api/part.ts';
import type { CliWing } from './cli/part.ts';
import type { Config } from './config/config.ts';
import type { AgentOptions, HeadOptions } from './config/daemon-options.ts';
import type { Head } from './head/head.ts';
import type { HttpSide } from './head/http/server.ts';
import type { HeadPart } from './head/part.ts';
import type { UidsOf } from './listeners/peer-owners.ts';
import type { MachinePart } from './machine/part.ts';
import type { NodeFacts } from './model/node.ts';
import type { LauncherProgram } from './os/launcher-build.ts';
import type { Log } from './ports/log.ts';

export interface Wing extends CliWing {
  readonly name: string;
  /** Other wings that this one imports; no circle. */
  readonly needs: readonly string[];
  /** The wing's routes. */
  readonly api?: () => Promise<ApiPart>;
  /** The wing's part of a head, made for each. */
  readonly head?: (program: HeadProgram) => Promise<HeadPart>;
  /** What the head's machine gets from it. */
  readonly machine?: () => Promise<MachinePart>;
  /** What it does in agents; loaded by programs that have some. */
  readonly agent?: () => Promise<AgentMaker>;
  /** Has tasks of nodes run elsewhere than on the machine of their agents; of one wing. */
  readonly elsewhere?: () => Promise<ElsewhereMaker>;
}

/** Makes a wing's part in the agent of one node. Throws with words when its options cannot be. */
export type AgentMaker = (node: HostedNode) => AgentPart;

/** A node whose agent a program runs. */
export interface HostedNode {
  readonly options: AgentOptions;
  readonly log: Log;
  /** How many nodes the program has. */
  readonly nodeCount: number;
  /** What starts processes on this machine. */
  readonly launcher: Pick<LauncherProgram, 'kind' | 'command'>;
  /** Whose processes are at the other ends of unix sockets; undefined: nobody can say. */
  readonly uidsOf: UidsOf | undefined;
}

/** Null: tasks of this node run on its machine. */
export type ElsewhereMaker = (node: Pick<HostedNode, 'options' | 'log'>) => Elsewhere | null;

/** Where the tasks of a node run that do not run on the machine of its agent. */
export interface Elsewhere {
  /** The node's options, with what is there. Rejects with words when nothing can run there. */
  ready(): Promise<AgentOptions>;
  /** What the node says of itself then. */
  facts(): Partial<NodeFacts>;
  /** In place of the machine's own. */
  ports(instance: string): Partial<AgentPorts>;
  /** The node's agent runs. */
  begin(agent: Pick<Agent, 'introduce'>, host: AgentsHost): void;
}

/** The program that runs agents. */
export interface AgentsHost {
  /** Runs the agent of one more node, whose tasks run elsewhere too. */
  run(options: AgentOptions, elsewhere: (log: Log) => Elsewhere): Promise<void>;
}

/** The program of a head, to its wings. */
export interface HeadProgram {
  readonly options: HeadOptions;
  readonly log: Log;
  /** One line per request that changes something. */
  readonly audit: Log;
  /** The listeners are open. Rejects with words when what is to begin then cannot. */
  onServing(begin: (head: Head, door: HttpSide) => void | Promise<void>): void;
  /**
   * The configuration is read again: `read` throws a failure that says what is wrong with it, and
   * gives what has it in force when all is right.
   */
  onReload(read: (config: Config) => () => void): void;
  /** The head is about to stop. */
  onEnd(end: () => void | Promise<void>): void;
}
