// Nodes for tests: what they have, and what they say when they connect.

import type { GpuCard, NodeGpus } from '../../src/kernel/model/gpu.ts';
import type { NodeName } from '../../src/kernel/model/ids.ts';
import type { MachineMarks, NodeHello } from '../../src/kernel/model/node.ts';
import type { NodeFeature } from '../../src/kernel/model/node-features.ts';
import type { NodeSize } from '../../src/kernel/model/node-sizes.ts';
import type { HeldEpoch } from '../../src/kernel/model/orders.ts';
import { PAUSE_MAX_MS } from '../../src/kernel/model/pause.ts';
import type { Resources } from '../../src/kernel/model/resources.ts';
import type { SiteSkills } from '../../src/kernel/model/site.ts';

/** Amounts in short words; what is not named is none. */
export interface Amounts {
  readonly cpus?: number;
  readonly memory?: number;
  readonly gpus?: number;
  readonly counted?: Readonly<Record<string, number>>;
}

export interface NodeOptions extends Amounts {
  /** Declared at enrolment. */
  readonly declared?: Amounts;
  /** Labels given at enrolment. */
  readonly given?: readonly string[];
  /** Labels that the agent brings. */
  readonly labels?: readonly string[];
  readonly shared?: readonly string[];
  readonly bootId?: string;
  readonly machine?: MachineMarks;
  readonly upMs?: number;
  readonly hostname?: string;
  readonly instance?: string;
  readonly held?: readonly HeldEpoch[];
  readonly switchesUser?: boolean;
  readonly takesFrom?: readonly string[];
  /** Another cluster runs its tasks. */
  readonly site?: string;
  /** What that does to jobs that run; absent: nothing. */
  readonly siteSkills?: SiteSkills;
  /** Largest nodes of a site. */
  readonly sizes?: readonly NodeSize[];
  /** What its agent can do; absent: not heard of yet. */
  readonly features?: readonly NodeFeature[];
  readonly cards?: readonly GpuCard[];
  readonly pauseMaxMs?: number;
  readonly pause?: NodeHello['pause'];
}

export const GIB = 2 ** 30;

export function resources(amounts: Amounts): Resources {
  const { cpus = 0, memory = 0, gpus = 0, counted = {} } = amounts;
  return { cpuCount: cpus, memoryBytes: memory, gpuCount: gpus, counted };
}

/** A free card, unless said otherwise. */
export function card(number: number, fields: Partial<GpuCard> = {}): GpuCard {
  return {
    number,
    index: number,
    uuid: `GPU-${number}`,
    vendor: 'nvidia',
    name: 'NVIDIA GeForce RTX 4090',
    type: 'rtx4090',
    memoryBytes: 24 * GIB,
    busId: `0000:0${number}:00.0`,
    state: 'free',
    why: null,
    since: 0,
    users: [],
    ...fields,
  };
}

export function gpusOf(cards: readonly GpuCard[]): NodeGpus {
  return { cards, driver: '580.95.05', remark: null, lookMs: 10_000 };
}

/** Four cpus and 8 GiB unless said otherwise. */
export function helloOf(name: string, options: NodeOptions = {}): NodeHello {
  const { cpus = 4, memory = 8 * GIB } = options;
  return {
    node: name as NodeName,
    bootId: options.bootId ?? 'boot 1',
    instance: options.instance ?? 'instance 1',
    resources: resources({ ...options, cpus, memory }),
    labels: options.labels ?? [],
    sharedPaths: options.shared ?? [],
    facts: {
      os: 'linux',
      arch: 'x64',
      kernel: '6.1',
      hostname: options.hostname ?? name,
      ...(options.site === undefined ? {} : { site: options.site }),
      ...(options.siteSkills === undefined ? {} : { siteSkills: options.siteSkills }),
      ...(options.sizes === undefined ? {} : { sizes: options.sizes }),
      agentVersion: '0.1.0',
      diskFreeBytes: GIB,
      diskBytes: 2 * GIB,
      network: '',
      limits: 'cgroup v2',
      launcher: 'c',
      switchesUser: options.switchesUser ?? false,
      user: 'weft',
      ...(options.takesFrom === undefined ? {} : { takesFrom: options.takesFrom }),
    },
    held: options.held ?? [],
    pauseMaxMs: options.pauseMaxMs ?? PAUSE_MAX_MS,
    ...(options.machine === undefined ? {} : { machine: options.machine }),
    ...(options.upMs === undefined ? {} : { upMs: options.upMs }),
    ...(options.cards === undefined ? {} : { gpus: gpusOf(options.cards) }),
    ...(options.pause === undefined ? {} : { pause: options.pause }),
    ...(options.features === undefined ? {} : { features: options.features }),
  };
}
