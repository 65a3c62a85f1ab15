// Reservations in short words, for the controller's tests.

import type {
  CreateReservation,
  Occurrences,
  ReservationMembers,
  WantedReservation,
} from '../../src/kernel/machine/reservations/commands.ts';
import type { NodeName, UserName } from '../../src/kernel/model/ids.ts';
import type { Amounts } from './nodes.ts';
import { resources } from './nodes.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export interface ReserveWords {
  readonly name?: string;
  readonly users?: readonly string[];
  readonly members?: Partial<ReservationMembers>;
  /** Absent: now. */
  readonly at?: number;
  readonly within?: readonly [number, number];
  readonly lasts?: number;
  readonly nodes?: readonly string[];
  readonly count?: number;
  /** What is set aside of each node; absent = whole nodes. */
  readonly share?: Amounts;
  readonly labels?: readonly string[];
  readonly force?: boolean;
  readonly recurrence?: Occurrences;
}

export function wishOf(words: ReserveWords): WantedReservation {
  const { at, within, nodes = [], share } = words;
  const flexible = within && { notBefore: within[0], until: within[1] };
  return {
    time: flexible
      ? { kind: 'flexible', ...flexible }
      : at
        ? { kind: 'fixed', from: at }
        : { kind: 'now' },
    durationMs: words.lasts ?? HOUR,
    nodeNames: nodes as readonly NodeName[],
    nodeCount: words.count ?? Math.max(1, nodes.length),
    perNode: share === undefined ? 'whole' : resources(share),
    labels: words.labels ?? [],
    force: words.force ?? false,
  };
}

export function reserve(words: ReserveWords = {}): CreateReservation {
  const users = (words.users ?? []) as readonly UserName[];
  return {
    kind: 'create_reservation',
    name: words.name ?? null,
    members: { users, groups: [], jobs: [], ...words.members },
    request: wishOf(words),
    recurrence: words.recurrence ?? null,
  };
}
