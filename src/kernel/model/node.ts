// What a node says of itself when it registers.

import type { NodeGpus } from './gpu.ts';
import type { NodeName } from './ids.ts';
import type { NodeFeature } from './node-features.ts';
import type { NodeSize } from './node-sizes.ts';
import type { HeldEpoch } from './orders.ts';
import type { Pause } from './pause.ts';
import type { Resources } from './resources.ts';
import type { SiteSkills } from './site.ts';

/** Slow-changing facts, for people and for label constraints. */
export interface NodeFacts {
  readonly os: string;
  readonly arch: string;
  readonly kernel: string;
  readonly hostname: string;
  readonly agentVersion: string;
  readonly diskFreeBytes: number;
  /** Size of the file system that job files go to. */
  readonly diskBytes: number;
  /** `eth0 10.0.0.3 1000Mb/s`, each but the loopback. */
  readonly network: string;
  /** How limits are enforced: `cgroup v2`, `cgroup v1`, `cgroup hybrid`, `polling`. */
  readonly limits: string;
  /** What runs containers, and why not: `docker 20.10.24`; absent from older agents. */
  readonly containers?: string;
  /** `c` or `node`. */
  readonly launcher: string;
  /** Another cluster runs its tasks: the name of its gateway. Absent: the node does itself. */
  readonly site?: string;
  /** Absent: its site has none, or it has none. */
  readonly siteSkills?: SiteSkills;
  /** Largest nodes of a site that decides itself: no task gets two. Absent: the node is one. */
  readonly sizes?: readonly NodeSize[];
  /** False: everything runs as the agent's own user, whoever submitted it. */
  readonly switchesUser: boolean;
  /** The node does not switch users, and takes its agent's own user's jobs. Absent: everybody's. */
  readonly ownUserOnly?: true;
  /** Users whose jobs alone it takes, as its owner has said. Absent: it takes those of all. */
  readonly takesFrom?: readonly string[];
  /** The agent's own login name. */
  readonly user: string;
}

/**
 * What tells a machine from a copy of its disk, as hashes; what is not sure to last is absent. With
 * older agents all of it is.
 */
export interface MachineMarks {
  /** The machine id (machine-id(5)). */
  readonly id?: string;
  /** The number of its board, as its firmware or its hypervisor gives it. */
  readonly board?: string;
  /** The agent's folder; compared within one boot only. */
  readonly folder?: string;
  /** Instance of the folder that the agent's was copied from. */
  readonly copyOf?: string;
}

export interface NodeHello {
  readonly node: NodeName;
  /** From /proc/sys/kernel/random/boot_id, or made up once per virtual machine start. */
  readonly bootId: string;
  /** Made when the agent's state directory is made: a new one has forgotten what ran. */
  readonly instance: string;
  readonly machine?: MachineMarks;
  /** Ms since this boot began, by a clock that never jumps; absent from older agents. */
  readonly upMs?: number;
  readonly resources: Resources;
  readonly labels: readonly string[];
  /** Directories that are the same here as on the submitter's machine. */
  readonly sharedPaths: readonly string[];
  readonly facts: NodeFacts;
  readonly held: readonly HeldEpoch[];
  /** What its agent can do (node-features.ts); the head adds it. */
  readonly features?: readonly NodeFeature[];
  /** Why it can take no new work, in a word or two; absent while it can. */
  readonly fault?: string;
  /** The node's cards; absent: only their number is known. */
  readonly gpus?: NodeGpus;
  /** Longest pause that it takes. */
  readonly pauseMaxMs: number;
  /** The pause by that turn's report. Missing while one is still unacknowledged: it will tell. */
  readonly pause?: { readonly turn: number; readonly pause: Pause | null };
}

/** The first characters of a boot id, for people. */
export function shortBoot(bootId: string): string {
  return bootId.slice(0, 8) || 'unknown';
}
