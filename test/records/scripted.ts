// What no run of the simulator brings: people and stores that change what the head knows.

import { HEAD_MACHINE } from '../../sim/head-machine.ts';
import type { Command } from '../../src/kernel/machine/declared.ts';
import type { StepRecord } from '../../src/kernel/machine/events.ts';
import { exportState } from '../../src/kernel/machine/snapshot.ts';
import type { EpochId, NodeName, UserName } from '../../src/kernel/model/ids.ts';
import type { Pause } from '../../src/kernel/model/pause.ts';
import { encodeEntry, rebuild } from '../../src/kernel/head/journal.ts';
import { encode } from '../../src/kernel/wire/codec.ts';
import type { AgentToHead, HeadToAgent } from '../../src/kernel/wire/messages.ts';
import { ADMIN, START_AT, TestHead } from '../support/controller.ts';
import { GIB, resources } from '../support/nodes.ts';
import { reserve } from '../support/reservations.ts';
import { type JournalRecord, recoveredFrom, throughJson } from './files.ts';
import type { Line } from './from-simulator.ts';
import { batchRecords } from './scripted-batches.ts';
import { restRecords } from './scripted-rest.ts';

const N1 = 'n1' as NodeName;
const ANN = 'ann' as UserName;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const scriptedBatches = (): JournalRecord => journalFrom(batchRecords());
export const scriptedRest = (): JournalRecord => journalFrom(restRecords());

function journalFrom(steps: readonly StepRecord[]): JournalRecord {
  const entries = steps.map((step) => encodeEntry([step]));
  const record = { snapshotSeq: 0, snapshot: null, entries, seq: entries.length };
  const { state } = rebuild(HEAD_MACHINE, recoveredFrom({ ...record, state: null }));
  return { ...record, state: throughJson(exportState(state)) };
}

export function scriptedJournal(): JournalRecord {
  const head = new TestHead();
  settleIn(head);
  askForUsers(head);
  changeNodes(head);
  pause(head);
  recur(head);
  scalePool(head);
  lose(head);
  const entries = head.records.map((step) => encodeEntry([step]));
  const state = throughJson(exportState(head.state));
  return { snapshotSeq: 0, snapshot: null, entries, seq: entries.length, state };
}

function settleIn(head: TestHead): void {
  head.perform({ kind: 'identity', fingerprint: 'AA:BB' });
  head.perform({ kind: 'started' });
  const notice = { text: 'new disks', from: null, until: head.at + HOUR } as const;
  command(head, { kind: 'set_notice', ...notice });
}

function command(head: TestHead, wish: Command): void {
  head.command(wish, ADMIN);
}

function askForUsers(head: TestHead): void {
  command(head, { kind: 'set_user', user: ANN, role: 'operator', groups: ['chem'], mode: 'create' });
  const token = { user: ANN, label: 'laptop', expiresAt: null, hash: '00' } as const;
  command(head, { kind: 'create_token', tokenId: 't1', purpose: 'user', ...token });
  command(head, { kind: 'create_token', tokenId: 't2', purpose: 'user', ...token });
  command(head, { kind: 'revoke_token', tokenId: 't2' });
  command(head, { kind: 'set_user', user: 'bob' as UserName, mode: 'create' });
  command(head, { kind: 'remove_user', user: 'bob' as UserName });
}

function changeNodes(head: TestHead): void {
  for (const name of ['n1', 'n2']) head.connect(name, { labels: ['fast'] });
  command(head, { kind: 'label_node', node: N1, add: ['gpu'], remove: [] });
  command(head, { kind: 'modify_node', node: N1, resources: resources({ cpus: 2, memory: 8 * GIB }) });
  head.disconnect('n2');
  command(head, { kind: 'remove_node', node: 'n2' as NodeName });
}

function pause(head: TestHead): void {
  head.running();
  command(head, { kind: 'pause_node', node: N1, durationMs: HOUR, requeue: false });
  const { serial } = head.node('n1').pausing;
  const told: Pause = {
    kind: 'owner', by: 'olga', since: head.at, until: head.at + HOUR, requeue: false,
  };
  const report = { kind: 'node_pause', at: head.at } as const;
  head.report('n1', { ...report, turn: 1, orderHeard: serial, pause: told });
  command(head, { kind: 'unpause_node', node: N1 });
  head.report('n1', { ...report, turn: 2, orderHeard: serial + 1, pause: null });
  command(head, { kind: 'pause_node', node: N1, durationMs: HOUR, requeue: false });
  head.tick(HOUR);
  const seen = { kind: 'yield', why: 'keyboard on tty2', since: head.at, requeue: false } as const;
  const inUse = { kind: 'node_pause', at: head.at, orderHeard: serial + 2 } as const;
  head.report('n1', { ...inUse, turn: 3, pause: seen });
  head.report('n1', { ...inUse, turn: 4, pause: null });
}

/** The second occurrence has no room at first. */
function recur(head: TestHead): void {
  const tomorrow = START_AT + DAY;
  head.command(reserve({ name: 'other', nodes: ['n1'], at: tomorrow + DAY, force: true }), ADMIN);
  const recurrence = { cron: '0 9 * * *', zone: 'UTC', starts: [tomorrow, tomorrow + DAY] };
  head.command(reserve({ recurrence, nodes: ['n1'], force: true }), ADMIN);
  command(head, { kind: 'cancel_reservation', reservation: 'other' });
  head.tick(HOUR);
}

function scalePool(head: TestHead): void {
  const pool = { name: null, min: 0, max: 4, idleMs: 60_000 };
  const start = { kind: 'start_pool', worker: {}, key: null, secret: 'its secret', pool } as const;
  const reply = head.command(start, ADMIN);
  if (reply.kind !== 'submitted') throw new Error(`a pool is answered with ${reply.kind}`);
  command(head, { kind: 'scale_pool', jobId: reply.jobId, target: 2 });
  command(head, { kind: 'cancel_task', place: { jobId: reply.jobId, index: null } });
}

/** Records that were accepted are gone, and a person has said to go on. */
function lose(head: TestHead): void {
  const { nextJobId, nextReservationId } = head.state;
  const given = { nextJobId: nextJobId + 2, nextReservationId, epochMax: 2 };
  head.once({ kind: 'loss', loss: { lastSeq: 1, promisedSeq: 4, given } });
}

/** Messages of which no simulated job has need. */
export function scriptedLines(): Line[] {
  const epochId = '1#1' as EpochId;
  const wish = { serial: 1, by: 'olga' } as const;
  const order = { kind: 'pause', ...wish, durationMs: HOUR, requeue: false } as const;
  const told: Pause = { kind: 'owner', by: 'olga', since: 0, until: HOUR, requeue: false };
  const report = { kind: 'node_pause', at: 1, turn: 1, orderHeard: 1, pause: told } as const;
  const bytes = new TextEncoder().encode('input');
  const fromHead: HeadToAgent[] = [
    { kind: 'stdin', epochId, offset: 0, bytes, end: true },
    { kind: 'orders', orders: [order, { kind: 'unpause', ...wish, serial: 2 }] },
  ];
  const fromAgent: AgentToHead[] = [
    { kind: 'stdin_ack', epochId, offset: bytes.length, end: true },
    { kind: 'reports', first: 1, reports: [report] },
  ];
  return [
    ...fromHead.map((meant): Line => ({ way: '<', session: 0, bytes: encode(meant), meant })),
    ...fromAgent.map((meant): Line => ({ way: '>', session: 0, bytes: encode(meant), meant })),
  ];
}
