// The planted bugs in the scheduler: in what it plans, and in what it keeps of the site's rules.

import { Engine } from '../src/kernel/head/engine.ts';
import type { Event } from '../src/kernel/machine/declared.ts';
import { placeOf } from '../src/kernel/machine/jobs/place.ts';
import type { State } from '../src/kernel/machine/state.ts';
import { Step } from '../src/kernel/machine/step.ts';
import { NO_CAPS } from '../src/kernel/model/caps.ts';
import type { NodeName, TaskPlace } from '../src/kernel/model/ids.ts';
import type { Candidate } from '../src/kernel/scheduler/line/line.ts';
import { QuotaBook } from '../src/kernel/scheduler/line/quota.ts';
import { Board } from '../src/kernel/scheduler/room/board.ts';
import { ClusterRoom } from '../src/kernel/scheduler/room/cluster-room.ts';
import { holdsNow, type NodeView } from '../src/kernel/scheduler/room/pool.ts';
import { type Canary, type Planted, replaceMethod } from './canary.ts';
import { CROWDED } from './weather.ts';

/** Likewise, where much of them is set aside. */
const BOOKED = { ...CROWDED, reserveMs: 10_000, maintenanceMs: 15_000 } as const;

/** Each that starts has somebody sent away as well. */
function evictTheFirst(): Planted {
  return {
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function emit(this: Step, event: Event): void {
        original.call(this, event);
        if (event.kind !== 'task_allocated') return;
        const victim = firstRunning(this.state);
        if (victim === null || victim.jobId === event.place.jobId) return;
        const because = `preempted by ${event.place.jobId} of alice`;
        this.emit({ kind: 'end_asked', place: victim, why: 'requeue', by: 'scheduler', because });
      };
    }),
  };
}

function firstRunning({ jobs }: State): TaskPlace | null {
  for (const job of jobs.values()) {
    for (const { state, index } of job.active.values()) {
      if (state === 'running') return placeOf(job, index);
    }
  }
  return null;
}

/** The rules of usage are the memory's alone. */
function countUnrecorded(): Planted {
  return {
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function emit(this: Step, event: Event): void {
        if (event.kind !== 'billing_changed') return original.call(this, event);
        this.state.usage.setRules({ weights: event.weights }, this.at);
      };
    }),
  };
}

type Fitting = Board['fitting'];

/** What is set aside counts for nothing: room is what is free now. */
export function takeWhatIsFree(): Planted {
  return {
    remove: replaceMethod(Board.prototype, 'fitting', (original) => {
      return function fitting(this: Board, ...[ask, max]: Parameters<Fitting>): NodeView[] {
        const views = original.call(this, ask, max);
        if (views.length >= ask.request.nodeCount || ask.reservation !== null) return views;
        const others = [...this.eligible(ask)].filter((view) => {
          return holdsNow(view, ask.request) && this.lane(view.name).isReserved;
        });
        return [...new Set([...views, ...others])].slice(0, max);
      };
    }),
  };
}

/** What begins later counts for nothing. */
function lookNoFurther(): Planted {
  return {
    remove: replaceMethod(Board.prototype, 'fitting', (original) => {
      return function fitting(this: Board, ...[ask, max]: Parameters<Fitting>): NodeView[] {
        const views = original.call(this, ask, max);
        if (views.length >= ask.request.nodeCount) return views;
        const atOnce = (name: NodeName): boolean => this.lane(name).isReserved;
        const brief = original.call(this, { ...ask, walltimeMs: 1 }, Number.POSITIVE_INFINITY);
        const others = brief.filter(({ name }) => atOnce(name));
        return [...new Set([...views, ...others])].slice(0, max);
      };
    }),
  };
}

/** A head that starts has all reservations, but the nodes of maintenance are not in them. */
function forgetMaintenance(): Planted {
  return {
    remove: replaceMethod(Engine.prototype, 'perform', (original) => {
      return function perform(this: Engine, ...[input, done]: Parameters<Engine['perform']>): void {
        if (input.kind === 'started') emptyMaintenance(this.state);
        original.call(this, input, done);
      };
    }),
  };
}

function emptyMaintenance({ reservations }: State): void {
  for (const [id, one] of reservations) {
    if (one.purpose !== 'maintenance') continue;
    const slots = one.slots.map((slot) => ({ ...slot, shares: {} }));
    reservations.set(id, { ...one, slots });
  }
}

/** Gives the first gpus of the node to whoever gets any. */
function giveFirstCards(): Planted {
  return {
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function emit(this: Step, event: Event): void {
        if (event.kind !== 'task_allocated') return original.call(this, event);
        const shares = event.shares.map((share) => {
          return { ...share, gpus: share.gpus.map((_, at) => at) };
        });
        original.call(this, { ...event, shares });
      };
    }),
  };
}

/** A QoS limits tasks and cpus, and no gpus. */
function forgetGpuLimits(): Planted {
  return {
    remove: replaceMethod(QuotaBook.prototype, 'full', (original) => {
      return function full(this: QuotaBook, candidate: Candidate): string | null {
        const { gpusPerUser: _, ...qos } = candidate.qos;
        return original.call(this, { ...candidate, qos });
      };
    }),
  };
}

/** Gives one gpu of each pair to a task that asks for two that are joined. */
function giveUnjoined(): Planted {
  return {
    remove: replaceMethod(Board.prototype, 'start', (original) => {
      return function start(this: Board, ...[ask, ...rest]: Parameters<Board['start']>) {
        const shares = original.call(this, ask, ...rest);
        if (ask.request.perNode.gpuKind?.links === undefined) return shares;
        return shares.map((share) => {
          return { ...share, gpus: share.gpus.map((number, at) => (number + 2 * at) % 4) };
        });
      };
    }),
  };
}

/** A whole node is billed with all its gpus, whichever of them the task has. */
function billGoneCards(): Planted {
  return {
    remove: replaceMethod(Board.prototype, 'start', (original) => {
      return function start(this: Board, ...[ask, views, taker]: Parameters<Board['start']>) {
        const shares = original.call(this, ask, views, taker);
        if (!ask.request.exclusive) return shares;
        return shares.map((share, at) => {
          const { gpuCount } = (views[at] as NodeView).total;
          return { ...share, resources: { ...share.resources, gpuCount } };
        });
      };
    }),
  };
}

export const SCHEDULER_CANARIES: readonly Canary[] = [
  {
    name: 'gone-cards-billed',
    sentence: 'who has a whole node is billed for a gpu of it that is gone',
    plant: billGoneCards,
    weather: { ...CROWDED, cardMs: 3000 },
  },
  {
    name: 'any-card-will-do',
    sentence: 'tasks get the first gpus of a node, whichever they asked for and whoever has them',
    plant: giveFirstCards,
    weather: { ...CROWDED, cardMs: 3000 },
  },
  {
    name: 'links-ignored',
    sentence: 'who asks for gpus that are joined gets such as are not',
    plant: giveUnjoined,
    weather: { ...CROWDED, links: 0.9 },
  },
  {
    name: 'near-cards-ignored',
    sentence: 'who asks for two gpus gets two that are not joined, though a pair is free',
    plant: giveUnjoined,
    weather: { ...CROWDED, links: 0.9 },
  },
  {
    name: 'user-caps-ignored',
    sentence: 'users have more gpus, or more of a type, than they may in all',
    plant: () => ({
      remove: replaceMethod(QuotaBook.prototype, 'capsOf', () => () => NO_CAPS),
    }),
    weather: { ...CROWDED, links: 0.1 },
  },
  {
    name: 'gpu-limit-ignored',
    sentence: 'users have more gpus of a type running than their QoS lets them',
    plant: forgetGpuLimits,
    weather: { ...CROWDED, links: 0.1 },
  },
  {
    name: 'limit-ignored',
    sentence: 'users have more tasks running than they may',
    plant: () => ({
      remove: replaceMethod(QuotaBook.prototype, 'full', () => () => null),
    }),
    weather: CROWDED,
  },
  {
    name: 'licences-ignored',
    sentence: 'more of what the whole cluster counts is given than it has',
    plant: () => ({
      remove: replaceMethod(ClusterRoom.prototype, 'fits', () => () => true),
    }),
    weather: CROWDED,
  },
  {
    name: 'promise-broken',
    sentence: 'what starts before its turn delays the task that was promised a time',
    plant: () => ({
      remove: replaceMethod(Board.prototype, 'promise', () => () => undefined),
    }),
    weather: CROWDED,
  },
  {
    name: 'preempts-for-nothing',
    sentence: 'a task is sent away for one that starts without that',
    plant: evictTheFirst,
    weather: CROWDED,
  },
  {
    name: 'reservation-ignored',
    sentence: 'others take what is set aside',
    plant: takeWhatIsFree,
    weather: BOOKED,
  },
  {
    name: 'runs-into-maintenance',
    sentence: 'a task starts although it may run into a maintenance or a reservation',
    plant: lookNoFurther,
    weather: BOOKED,
  },
  {
    name: 'reload-unrecorded',
    sentence: 'what a reload makes of usage is counted and not written down',
    plant: countUnrecorded,
    weather: { ...CROWDED, reloadMs: 10_000, headCrashMs: 30_000 },
  },
  {
    name: 'maintenance-forgotten',
    sentence: 'a head that starts again sets nothing aside for maintenance',
    plant: forgetMaintenance,
    weather: { ...BOOKED, headCrashMs: 20_000 },
  },
];
