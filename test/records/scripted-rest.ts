// Kinds of events that come of other machines than a head alone: batch systems, cards, copied
// disks. Each once, as they would be recorded, after what they need.

import type { StepRecord } from '../../src/kernel/machine/events.ts';
import type { EpochId, NodeName, UserName } from '../../src/kernel/model/ids.ts';
import { ADMIN, TestHead } from '../support/controller.ts';

const N1 = 'n1' as NodeName;
const HOUR = 3_600_000;

type Events = StepRecord['events'];

/** A head of its own: what it has recorded. */
export function restRecords(): StepRecord[] {
  const head = new TestHead();
  head.connect('n1', { cpus: 4 });
  const epochId = `${head.running()}#1` as EpochId;
  const time = { kind: 'fixed', from: head.at + HOUR } as const;
  head.command(
    {
      kind: 'plan_maintenance',
      nodes: [N1], time, durationMs: HOUR, running: 'wait',
      warning: null, program: null, reason: 'disk',
    },
    ADMIN,
  );
  const steps = [fleets(), gpus(head.at), maintenance(), turns(epochId), copies(), trust()];
  const at = head.at + 1;
  return [...head.records, ...steps.map((events): StepRecord => ({ v: 1, at, events }))];
}

function trust(): Events {
  const trusted = { by: 'ada', at: 1, machine: { id: 'm1' }, secretHash: 'hash', store: '0 0' };
  return [
    { kind: 'node_trusted', node: N1, trust: trusted },
    { kind: 'node_distrusted', node: N1, by: 'ada' },
  ];
}

function fleets(): Events {
  const wish = {
    system: 'slurm', cpuCount: 2, memoryBytes: null, walltimeMs: HOUR, isolated: false,
    queue: null, options: [], image: null, dockerArgs: [], directory: '/tmp', sharedPaths: [],
  } as const;
  const by = 'ann' as UserName;
  const fleet = { id: 'f1', tag: 'tag', by, isOnce: false, wish };
  const bounds = { min: 0, max: 2, idleMs: 60_000 };
  const pilot = { fleet: 'f1', launch: 1, index: 1 };
  return [
    { kind: 'fleet_started', fleet, ...bounds },
    { kind: 'fleet_scaled', fleet: 'f1', ...bounds, max: 3, by: 'ann' },
    { kind: 'pilots_asked', fleet: 'f1', launch: 1, count: 2 },
    { kind: 'pilots_submitted', fleet: 'f1', launch: 1, site: '4711' },
    { kind: 'pilot_seen', ...pilot, isRunning: true, endsAt: null },
    { kind: 'pilot_up', ...pilot },
    { kind: 'pilot_leaving', ...pilot, why: 'idle' },
    { kind: 'pilot_gone', ...pilot, why: 'idle', failed: false },
    { kind: 'pilots_asked', fleet: 'f1', launch: 2, count: 1 },
    { kind: 'pilots_refused', fleet: 'f1', launch: 2, why: 'no such queue' },
    { kind: 'fleet_paused', fleet: 'f1', why: 'no such queue' },
    { kind: 'fleet_stopped', fleet: 'f1', by: 'ann' },
    {
      kind: 'fleet_started',
      fleet: { ...fleet, id: 'f2', tag: 'other', isOnce: true },
      ...bounds,
    },
    { kind: 'fleet_removed', fleet: 'f2' },
  ];
}

function gpus(at: number): Events {
  const card = {
    number: 0, index: 0, uuid: 'GPU-1', vendor: 'nvidia', name: 'NVIDIA A100', type: 'a100',
    memoryBytes: 2 ** 36, busId: '0000:01:00.0', state: 'ill', why: 'Xid 79', since: at,
    users: [{ pid: 7, user: 'olga', program: 'python', memoryBytes: null, since: at }],
  } as const;
  return [
    { kind: 'node_gpus_told', node: N1, gpus: { cards: [card], driver: '550.1', remark: null } },
  ];
}

function maintenance(): Events {
  return [
    { kind: 'maintenance_stop', id: 'm1', node: N1, stop: 'asked' },
    { kind: 'maintenance_taken_back', id: 'm1', node: N1, by: 'olga' },
  ];
}

const turns = (epochId: EpochId): Events => [
  { kind: 'part_turns_heard', epochId, node: N1, turn: 3 },
];

function copies(): Events {
  const given = { nextJobId: 40, nextReservationId: 9, epochMax: 3 };
  const behind = { lastSeq: 2, promisedSeq: 5, life: 1, given, nodes: ['n1'] };
  return [
    { kind: 'store_copied', jobIdFrom: 2, given },
    { kind: 'head_behind', behind },
  ];
}
