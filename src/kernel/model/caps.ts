// What one user may hold in the whole cluster at once, whichever partition and QoS it is in.

import { CAP_MAX } from './limits.ts';

export const CAP_KINDS = ['cpus', 'gpus', 'running'] as const;
export type CapKind = (typeof CAP_KINDS)[number];

/** Absent: no cap. `running`: tasks. */
export type Caps = { readonly [kind in CapKind]?: number };

/** What an admin gave one user. Absent: as the configuration says for all; null: no cap. */
export type OwnCaps = { readonly [kind in CapKind]?: number | null | undefined };

export const NO_CAPS: Caps = {};

/** The caps that hold for a user. */
export function capsFrom(everybody: Caps, own: OwnCaps = NO_CAPS): Caps {
  const caps: { [kind in CapKind]?: number } = {};
  for (const kind of CAP_KINDS) {
    const max = own[kind] === undefined ? everybody[kind] : own[kind];
    if (max != null) caps[kind] = max;
  }
  return caps;
}

/** `none`: any number; `default`: as others. Absent: as it is. */
export type CapsChange = { readonly [kind in CapKind]?: number | 'none' | 'default' | undefined };

/** A user's own caps after a change. */
export function changedCaps(before: OwnCaps, change: CapsChange): OwnCaps {
  const caps: { [kind in CapKind]?: number | null } = {};
  for (const kind of CAP_KINDS) {
    const value = change[kind] ?? before[kind];
    if (value === 'default' || value === undefined) continue;
    caps[kind] = value === 'none' ? null : value;
  }
  return caps;
}

/** Whether every number is one that a cap can have. */
export function isCaps(caps: OwnCaps): boolean {
  return CAP_KINDS.every((kind) => {
    const max = caps[kind];
    return max == null || (Number.isInteger(max) && max >= 0 && max <= CAP_MAX);
  });
}

const UNITS = { cpus: 'cpu', gpus: 'gpu', running: 'running task' } as const;

/** `16 cpus, 1 gpu, 50 running tasks`; empty where there are none. */
export function describeCaps(caps: OwnCaps): string {
  return CAP_KINDS.flatMap((kind) => {
    const max = caps[kind];
    if (max === undefined) return [];
    return max === null
      ? [`any ${UNITS[kind]}s`]
      : [`${max} ${UNITS[kind]}${max === 1 ? '' : 's'}`];
  }).join(', ');
}
