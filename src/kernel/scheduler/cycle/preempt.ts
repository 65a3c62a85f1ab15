// Who must make room: the cheapest tasks of lower tiers whose leaving lets a task start. Cheapest
// is the least tier, then the youngest start, then the fewest tasks. Nobody leaves for nothing.

import { groupCapsOf } from '../../model/caps.ts';
import type { NodeName } from '../../model/ids.ts';
import { PREEMPTORS_MAX, ROOM_LOOKS_AGAIN_PER_CYCLE_MAX } from '../../model/limits.ts';
import { NO_RESOURCES } from '../../model/resources.ts';
import {
  type Partition,
  type PreemptMode,
  partitionOf,
  plainQos,
  type Qos,
  qosOf,
  type Scheduling,
} from '../../model/scheduling.ts';
import { groupKey, keysOf } from '../line/quota.ts';
import type { Ask } from '../room/ask.ts';
import type { Board, Taker } from '../room/board.ts';
import { isLeaving } from '../room/lane.ts';
import type { Running } from '../room/pool.ts';
import type { Slot } from '../room/slots.ts';
import type { Hopeless } from './hopeless.ts';
import { RoomSearch, type Victim } from './room-search.ts';

/** A running task that must make room. */
export interface Preemption extends Taker {
  readonly mode: Exclude<PreemptMode, 'off'>;
  readonly for: Taker;
}

/** What the mode of a task is: its QoS's if that has one, else its partition's. */
export function modeOf(partition: Partition, qos: Qos): PreemptMode {
  return qos.preempt === 'off' ? partition.preempt : qos.preempt;
}

/** What decides who leaves. */
export interface PreemptionRules {
  readonly scheduling: Scheduling;
  /** Searches that found nothing in the cycles that were cut short just before this one, if any. */
  readonly hopeless?: Hopeless;
}

/** One cycle's decisions about who leaves. */
export class Preemptor {
  readonly made: Preemption[] = [];
  /** Counts of `keysOf`: of those who are counted there nobody is sent away. */
  readonly spared = new Set<string>();
  readonly #board: Board;
  readonly #scheduling: Scheduling;
  /** Tasks that leave by this cycle's decision, with the nodes whose future knows it. */
  readonly #gone = new Map<string, Set<NodeName>>();
  /** Searches known to find nothing. */
  readonly #hopeless: Hopeless;
  #lessons = 0;
  #looksAgain = 0;
  /** Tasks that wait for others to leave. */
  #claims = 0;
  readonly #searches = new Map<string, RoomSearch>();
  /** Tier of the least task that could have to leave; infinite = nobody ever. */
  readonly #floor: number;

  /** `hopeless` is added to. */
  constructor(board: Board, { scheduling, hopeless = new Map() }: PreemptionRules) {
    this.#board = board;
    this.#hopeless = hopeless;
    this.#scheduling = scheduling;
    this.#floor = floorOf(scheduling);
  }

  /**
   * Searches that the next cycle need not repeat: they were hopeless, or somebody leaves. Only
   * these are counted, else cycles that are cut short could follow each other for ever.
   */
  get lessons(): number {
    return this.#lessons;
  }

  /**
   * A task waits because this count of its user is full. Whoever is counted there stays: else it
   * would be that task's turn instead of the one that they leave for, and with no room for it they
   * would start again, to be sent away again.
   */
  spare(count: string): void {
    this.spared.add(count);
  }

  /** For a task of this tier nobody ever leaves. */
  isIdleFor(tier: number): boolean {
    return tier <= this.#floor;
  }

  /**
   * Nodes that the task gets in a moment, with those on them told to leave; null: not like that.
   * Without a `taker` nobody is told anything.
   */
  makeRoom(ask: Ask, tier: number, taker: Taker | null): Slot | null {
    if (this.isIdleFor(tier) || this.#claims >= PREEMPTORS_MAX) return null;
    // Nobody leaves for what is not on a node: a task that is stopped keeps it.
    if (!this.#board.opensSoon(ask)) return null;
    const names =
      this.#board.freeSoon(ask) ?? (taker === null ? null : this.#find(ask, tier, taker));
    if (names === null) return null;
    this.#claims += 1;
    return this.#board.soon(names);
  }

  #find(ask: Ask, tier: number, taker: Taker): readonly NodeName[] | null {
    const key = `${ask.key} ${tier}`;
    if (this.#isHopeless(key, ask, tier)) return null;
    // Who may leave is part of a search, and those spared only become more.
    const found = this.#searchOf(`${key} ${this.spared.size}`, ask, tier).find();
    if (found.names === null) {
      this.#hopeless.set(key, { able: found.able, seen: this.#board.pool.changes });
      this.#lessons += 1;
      return null;
    }
    if (found.victims.length > 0) this.#lessons += 1;
    for (const victim of found.victims) this.#expel(victim, taker);
    return found.names;
  }

  /** What a search found that failed, with another look at the nodes that have changed since. */
  #isHopeless(key: string, ask: Ask, tier: number): boolean {
    const known = this.#hopeless.get(key);
    if (known === undefined) return false;
    const changed = new Set(this.#board.pool.changedSince(known.seen));
    this.#looksAgain += changed.size;
    if (changed.size === 0 || this.#looksAgain > ROOM_LOOKS_AGAIN_PER_CYCLE_MAX) return true;
    const able = new Set(known.able);
    for (const name of changed) {
      if (this.#isAble(name, ask, tier)) able.add(name);
      else able.delete(name);
    }
    if (able.size >= ask.request.nodeCount) {
      this.#hopeless.delete(key);
      return false;
    }
    this.#hopeless.set(key, { able, seen: this.#board.pool.changes });
    return true;
  }

  /** Whether the node would do if everybody left who could. */
  #isAble(name: NodeName, ask: Ask, tier: number): boolean {
    const view = this.#board.eligibleView(name, ask);
    if (view === null) return false;
    const gone: Victim[] = [];
    for (const one of view.running) {
      const victim = this.#victimOn(name, one, tier);
      if (victim !== null) gone.push(victim);
    }
    return this.#board.fitsWithout(name, ask, gone);
  }

  #searchOf(key: string, ask: Ask, tier: number): RoomSearch {
    let search = this.#searches.get(key);
    if (search === undefined) {
      search = new RoomSearch(this.#board, ask, (one, name) => this.#victimOn(name, one, tier));
      this.#searches.set(key, search);
    }
    return search;
  }

  #expel(victim: Victim, taker: Taker): void {
    const { key, mode, one } = victim;
    const { jobId, index } = one;
    this.made.push({ jobId, index, mode, for: taker });
    this.#gone.set(key, new Set());
    const searches = [...this.#searches.values()];
    for (const search of searches) {
      for (const [name, part] of search.placesOf(victim)) this.#leave(name, part);
    }
    for (const search of searches) search.expelled(key, this.#gone.get(key) as Set<NodeName>);
  }

  #leave(name: NodeName, victim: Victim): void {
    const names = this.#gone.get(victim.key);
    if (names === undefined || names.has(name)) return;
    names.add(name);
    this.#board.expel(name, victim);
  }

  #victimOn(name: NodeName, one: Running, below: number): Victim | null {
    const victim = this.#victimOf(name, one, below);
    if (victim === null || !this.#gone.has(victim.key)) return victim;
    this.#leave(name, victim);
    return null;
  }

  #victimOf(name: NodeName, one: Running, below: number): Victim | null {
    const { occupant } = one;
    if (occupant === undefined || isLeaving(one, this.#board.now)) return null;
    const partition = partitionOf(this.#scheduling, occupant.partition);
    if (partition === null) return null;
    const qos = qosOf(this.#scheduling, occupant.qos);
    const tier = partition.tier + qos.tier;
    if (tier >= below) return null;
    const mode = modeOf(partition, qos);
    const key = `${one.jobId}:${one.index}`;
    if (mode === 'off' || (mode === 'suspend' && !occupant.canSuspend)) return null;
    if (mode === 'suspend') {
      const resources = { ...NO_RESOURCES, cpuCount: one.resources.cpuCount };
      return { key, name, mode, tier, one, resources, whole: false };
    }
    const { groupCaps } = this.#scheduling;
    const groups = groupCapsOf(groupCaps, occupant.owner).map(({ group }) => groupKey(group));
    const counts = [...keysOf(occupant.owner, occupant), ...groups];
    if (counts.some((count) => this.spared.has(count))) return null;
    const ends = mode === 'requeue' && !occupant.canRequeue ? 'cancel' : mode;
    return { key, name, mode: ends, tier, one, resources: one.resources, whole: true };
  }
}

function floorOf(scheduling: Scheduling): number {
  let floor = Infinity;
  const qualities = [plainQos(''), ...Object.values(scheduling.qualities)];
  for (const partition of Object.values(scheduling.partitions)) {
    for (const qos of qualities) {
      if (modeOf(partition, qos) !== 'off') floor = Math.min(floor, partition.tier + qos.tier);
    }
  }
  return floor;
}
