// What an engine is given, what it tells of, and what it makes of its inputs before they are
// decided.

import type { Input } from '../machine/controller.ts';
import type { Event } from '../machine/declared.ts';
import type { Task } from '../machine/jobs/facts.ts';
import type { Machine } from '../machine/machine.ts';
import { asksFor } from '../machine/schedule.ts';
import type { State } from '../machine/state.ts';
import type { NodeName } from '../model/ids.ts';
import type { Order } from '../model/orders.ts';
import type { Settings } from '../model/settings.ts';
import type { SiteHang, SiteStart } from '../model/site.ts';
import type { BootClock, Clock } from '../ports/clock.ts';
import type { HistoryRow } from '../ports/history.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { SiteStanding } from '../scheduler/room/brokerage.ts';

export interface EngineOptions {
  readonly machine: Machine;
  readonly store: Store;
  readonly clock: Clock;
  /** Tells of a wall clock that was set; absent: nobody notices. */
  readonly bootClock?: BootClock;
  readonly log: Log;
  readonly settings: Settings;
  /** Gives orders to the node's live session, if there is one; called after their commit. */
  readonly send: (node: NodeName, orders: readonly Order[]) => void;
  /** Load average per cpu of the connected nodes, as they said last. */
  readonly loads?: (state: State) => ReadonlyMap<NodeName, number>;
  /** Queues of sites whose own schedulers decide, by what they said last. */
  readonly standings?: () => ReadonlyMap<NodeName, SiteStanding>;
  /** The job of a site that is this start of a task; undefined: none is known. */
  readonly startAtSite?: (task: Task) => SiteStart | undefined;
  /** The site of a task that does not answer; undefined: none. */
  readonly siteHang?: (task: Task) => SiteHang | undefined;
  /** `Snapshot.looksMax`; absent: what 20 ms are enough for. */
  readonly looksMax?: number;
  /** The largest job id of which there is a trace outside of the store; asked after a loss only. */
  readonly jobIdSeen?: () => Promise<number>;
  /** A word that no copy of the head draws, for its life's name; absent: lives are not counted. */
  readonly nonce?: () => string;
  /** Longest time after a start that ids wait for the first word of a node; absent: none. */
  readonly firstWordMs?: number;
  /** Go on without records that only nodes know of. */
  readonly acceptLoss?: boolean;
  /** The memory is about to be rebuilt from the store: every session must start anew. */
  readonly onReload: () => void;
}

/** What was committed, for those who follow along. */
export interface Committed {
  readonly seq: number;
  readonly at: number;
  readonly events: readonly Event[];
  /** What the store keeps of them. */
  readonly history: readonly HistoryRow[];
}

/** The cycle that is due now. */
export function cycleInput(
  { loads, standings, looksMax }: Pick<EngineOptions, 'loads' | 'standings' | 'looksMax'>,
  state: State,
  settings: Settings,
): Input {
  const asked = asksFor(state, settings);
  return {
    kind: 'schedule',
    ...(asked.loads && loads !== undefined ? { loads: loads(state) } : {}),
    ...(asked.standings && standings !== undefined ? { standings: standings() } : {}),
    ...(looksMax === undefined ? {} : { looksMax }),
  };
}

/** Nobody's answer depends on it, and no order but the suspension of what was to be suspended. */
export function isPatient(input: Input): boolean {
  return input.kind === 'report' && input.report.kind === 'task_started';
}
