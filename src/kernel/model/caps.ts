// Caps on what one user, or all members of a group together, hold in the whole cluster at once, in
// all partitions and under every QoS.

import { isOfType } from './cards-for.ts';
import { parseGpuType } from './gpu-wish.ts';
import { CAP_MAX, GPU_TYPES_MAX } from './limits.ts';

export const CAP_KINDS = ['cpus', 'gpus', 'running'] as const;
/** `gpus:a100`: of one type of gpus. `running`: tasks. */
export type CapKind = (typeof CAP_KINDS)[number] | TypedKind;
type TypedKind = `gpus:${string}`;

/** Absent: no cap. */
export type Caps = { readonly [kind in CapKind]?: number };

/** What an admin gave one user. Absent: as the configuration says for all; null: no cap. */
export type OwnCaps = { readonly [kind in CapKind]?: number | null | undefined };

export const NO_CAPS: Caps = {};

/** Caps on a group: on the sum of what its members, those of its inner groups too, hold. */
export interface GroupCaps {
  readonly group: string;
  readonly users: readonly string[];
  readonly caps: Caps;
}

export function groupCapsOf(all: readonly GroupCaps[] | undefined, user: string): GroupCaps[] {
  return all?.filter(({ users }) => users.includes(user)) ?? [];
}

export function typedKind(type: string): TypedKind {
  return `gpus:${type}`;
}

/** The type of a cap; null: it is of something else. */
export function typeOfKind(kind: string): string | null {
  return /^gpus:(.+)$/.exec(kind)?.[1] ?? null;
}

/** Those that stand in any of them, in the order in which people read them. */
export function kindsIn(...all: readonly object[]): CapKind[] {
  const typed = all.flatMap((caps) =>
    Object.keys(caps).filter((kind) => typeOfKind(kind) !== null),
  );
  return [...CAP_KINDS, ...([...new Set(typed)].sort() as TypedKind[])];
}

/** Whether a job that asks for these types (null: for any) may be given gpus of a capped one. */
export function mayGet(asked: readonly string[] | null, capped: string): boolean {
  if (asked === null) return true;
  return asked.some((type) => isOfType(type, capped) || isOfType(capped, type));
}

/** The caps that hold for a user. */
export function capsFrom(everybody: Caps, own: OwnCaps = NO_CAPS): Caps {
  const caps: { [kind in CapKind]?: number } = {};
  for (const kind of kindsIn(everybody, own)) {
    const max = own[kind] === undefined ? everybody[kind] : own[kind];
    if (max != null) caps[kind] = max;
  }
  return caps;
}

/** `none`: any number; `default`: as others, of gpus also of each type. Absent: as it is. */
export type CapsChange = { readonly [kind in CapKind]?: number | 'none' | 'default' | undefined };

export function numbersIn(caps: Caps): Record<string, number> {
  const given = Object.entries(caps).filter((one): one is [string, number] => one[1] !== undefined);
  return Object.fromEntries(given);
}

/** A user's own caps after a change. */
export function changedCaps(before: OwnCaps, change: CapsChange): OwnCaps {
  const caps: { [kind in CapKind]?: number | null } = {};
  for (const kind of kindsIn(before, change)) {
    const kept = change.gpus === 'default' && typeOfKind(kind) !== null ? undefined : before[kind];
    const value = change[kind] ?? kept;
    if (value === 'default' || value === undefined) continue;
    caps[kind] = value === 'none' ? null : value;
  }
  return caps;
}

/** Whether there are caps of all these kinds, and not too many. */
export function areKinds(kinds: readonly string[]): boolean {
  if (kinds.length > CAP_KINDS.length + GPU_TYPES_MAX) return false;
  return kinds.every((kind) => {
    const type = typeOfKind(kind);
    if (type === null) return CAP_KINDS.some((known) => known === kind);
    const read = parseGpuType(type);
    return read.ok && read.value === type;
  });
}

/** Whether every number is one that a cap can have. */
export function isCaps(caps: OwnCaps): boolean {
  return kindsIn(caps).every((kind) => {
    const max = caps[kind];
    return max == null || (Number.isInteger(max) && max >= 0 && max <= CAP_MAX);
  });
}

const UNITS = { cpus: 'cpu', gpus: 'gpu', running: 'running task' } as const;

/** `16 cpus, 1 gpu, 50 running tasks, 2 a100 gpus`; empty where there are none. */
export function describeCaps(caps: OwnCaps): string {
  return kindsIn(caps)
    .flatMap((kind) => {
      const max = caps[kind];
      if (max === undefined) return [];
      const unit = capUnit(kind);
      return max === null ? [`any ${unit}s`] : [`${max} ${unit}${max === 1 ? '' : 's'}`];
    })
    .join(', ');
}

/** `cpu`, `running task`, `a100 gpu`. */
export function capUnit(kind: CapKind): string {
  const type = typeOfKind(kind);
  return type === null ? UNITS[kind as keyof typeof UNITS] : `${type} gpu`;
}
