// The caps that hold for a user: those that an admin gave, and for the rest those of the
// user's group, or of everybody.

import { type Caps, capsFrom, NO_CAPS } from '../model/caps.ts';
import type { UserName } from '../model/ids.ts';
import type { Scheduling } from '../model/scheduling.ts';
import type { State } from './state.ts';

export function capsOf({ users }: State, scheduling: Scheduling, user: UserName): Caps {
  const { caps = NO_CAPS, memberCaps = {} } = scheduling;
  const others = Object.hasOwn(memberCaps, user) ? (memberCaps[user] ?? caps) : caps;
  const own = users.get(user)?.caps;
  return own === undefined ? others : capsFrom(others, own);
}
