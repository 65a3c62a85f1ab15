// The caps that hold for a user: those that an admin gave, and for the rest those of the
// user's group, or of everybody; and those of the group together.

import {
  type Caps,
  capsFrom,
  type GroupCaps,
  groupCapsOf,
  kindsIn,
  mayGet,
  NO_CAPS,
  typeOfKind,
} from '../model/caps.ts';
import type { UserName } from '../model/ids.ts';
import type { Scheduling } from '../model/scheduling.ts';
import type { State } from './state.ts';

export function capsOf(state: State, scheduling: Scheduling, user: UserName): Caps {
  return metCaps(state, allCapsOf(state, scheduling, user));
}

/** Caps of the groups that the user is in, which all of each have together. */
export function groupCapsFor(state: State, { groupCaps }: Scheduling, user: UserName): GroupCaps[] {
  return groupCapsOf(groupCaps, user).map((one) => ({ ...one, caps: metCaps(state, one.caps) }));
}

/** A cap of a type that no node has is void: it would keep out tasks that name no type. */
function metCaps(state: State, caps: Caps): Caps {
  const typed = kindsIn(caps).filter((kind) => typeOfKind(kind) !== null);
  if (typed.length === 0) return caps;
  const types = typesHere(state);
  // Of some node nobody knows which gpus it has: they may be any.
  if (types === null) return caps;
  const unmet = typed.filter(
    (kind) => !types.some((type) => mayGet([type], typeOfKind(kind) ?? '')),
  );
  return unmet.length === 0 ? caps : withoutKinds(caps, unmet);
}

/** Types of the gpus of all nodes; null: those of one are not known. */
export function typesHere({ nodes }: Pick<State, 'nodes'>): readonly string[] | null {
  const types = new Set<string>();
  for (const { total, gpus } of nodes.values()) {
    if (total.gpuCount === 0) continue;
    for (let number = 0; number < total.gpuCount; number += 1) {
      const type = gpus?.cards[number]?.type ?? '';
      if (type === '') return null;
      types.add(type);
    }
  }
  return [...types].sort();
}

function withoutKinds(caps: Caps, kinds: readonly string[]): Caps {
  return Object.fromEntries(Object.entries(caps).filter(([kind]) => !kinds.includes(kind)));
}

function allCapsOf({ users }: State, scheduling: Scheduling, user: UserName): Caps {
  const { caps = NO_CAPS, memberCaps = {} } = scheduling;
  const others = Object.hasOwn(memberCaps, user) ? (memberCaps[user] ?? caps) : caps;
  const own = users.get(user)?.caps;
  return own === undefined ? others : capsFrom(others, own);
}
