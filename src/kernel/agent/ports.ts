// Everything an agent needs of the world, and what it is told about itself.

import type { NodeName } from '../model/ids.ts';
import type { MachineMarks, NodeFacts } from '../model/node.ts';
import type { Resources } from '../model/resources.ts';
import type { Chance } from '../ports/chance.ts';
import type { BootClock, Clock } from '../ports/clock.ts';
import type { Commands } from '../ports/commands.ts';
import type { Containment } from '../ports/containment.ts';
import type { Files } from '../ports/files.ts';
import type { JournalFile } from '../ports/journal-file.ts';
import type { Log } from '../ports/log.ts';
import type { Marks } from '../ports/marks.ts';
import type { Dialer } from '../ports/net.ts';
import type { Pipes } from '../ports/pipes.ts';
import type { Processes } from '../ports/processes.ts';
import type { SiteSource } from '../ports/site-source.ts';
import type { Staging } from '../ports/staging.ts';
import type { Users } from '../ports/users.ts';
import type { NodeLoad } from '../wire/messages.ts';
import type { HealthSettings } from './health.ts';

export interface AgentPorts {
  readonly clock: Clock;
  /** Tells a clock that was set from a machine that slept; absent: nobody notices. */
  readonly bootClock?: BootClock;
  readonly chance: Chance;
  readonly log: Log;
  readonly dialer: Dialer;
  /** Connects to the launcher, starting one if none runs. Called again when it is lost. */
  readonly connectLauncher: () => Promise<Processes>;
  readonly journal: JournalFile;
  readonly marks: Marks;
  /** These three may be absent where tasks run elsewhere (absent.ts). */
  readonly files?: Files;
  readonly users?: Users;
  readonly containment?: Containment;
  /** Absent: tasks bring no files here, and leave none. */
  readonly staging?: Staging;
  /** Absent: tasks have no containers here. */
  readonly commands?: Commands;
  /** Absent: no process here reads what a client sends. */
  readonly pipes?: Pipes;
  readonly load: () => NodeLoad;
  /** The site's own check of this node; absent: it has none. */
  readonly health?: HealthSettings;
  /** The site that this agent is the gateway of; absent: it is none. */
  readonly site?: SiteSource;
}

/** The ports that the shell works with: what is absent has a stand-in. */
export type AllPorts = AgentPorts & Required<Pick<AgentPorts, 'files' | 'users' | 'containment'>>;

export interface AgentSettings {
  readonly node: NodeName;
  readonly bootId: string;
  /** What tells this machine from a copy of its disk; absent: nothing does. */
  readonly machine?: MachineMarks;
  /** By the monotonic clock; absent: not known. */
  readonly bootBeganAt?: number;
  /** Made once per state directory; part of every mark. */
  readonly instance: string;
  readonly resources: Resources;
  /** The machine's number of this node's first gpu, where several nodes share a machine. */
  readonly gpuFrom: number;
  readonly labels: readonly string[];
  readonly sharedPaths: readonly string[];
  /** PATH of jobs that bring none; absent: the usual folders. */
  readonly jobPath?: string;
  /** State directory of the head here, where programs look only when told; absent: none. */
  readonly headDirectory?: string;
  readonly facts: NodeFacts;
  /** Holds `work`, `spool`, `scripts` and `hosts`; users must be able to pass through it. */
  readonly stateDir: string;
  /** Captured output on this node beyond which no new work is taken. */
  readonly spoolBytesMax: number;
  /** Run as the submitting user; otherwise everything runs as the agent's own. */
  readonly switchUser: boolean;
  /** Without switching: refuse the jobs of others, who would otherwise act as this user. */
  readonly ownUserOnly: boolean;
  readonly allowRoot: boolean;
  /** The cpus were found, not declared: no other node gives them too. */
  readonly isWholeMachine: boolean;
  /** Longest pause that anybody may ask for. */
  readonly pauseMaxMs: number;
}
