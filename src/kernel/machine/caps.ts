// The caps that hold for a user: those that an admin gave, and for the rest those of everybody.

import { type Caps, capsFrom, NO_CAPS } from '../model/caps.ts';
import type { UserName } from '../model/ids.ts';
import type { Scheduling } from '../model/scheduling.ts';
import type { State } from './state.ts';

export function capsOf({ users }: State, { caps = NO_CAPS }: Scheduling, user: UserName): Caps {
  const own = users.get(user)?.caps;
  return own === undefined ? caps : capsFrom(caps, own);
}
