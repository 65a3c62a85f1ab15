// The store's thread: waiting appends share one transaction; long work (snapshots, questions) is
// done in steps in between. Everything else is answered in the order it was asked.

import { chmodSync, mkdirSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
import { present, unreachable } from '../../base/assert.ts';
import type { Loss, Room, StoreFailure } from '../../ports/store.ts';
import { MERGED_APPENDS_MAX, MERGED_BYTES_MAX, PROBE_BYTES } from './bounds.ts';
import { type Connection, openConnection } from './connection.ts';
import { toStoreFailure } from './failures.ts';
import { jobsInSteps, type Steps, tasksInSteps, usageInSteps } from './history-queries.ts';
import { appendAll, lastSeq, type PackedCommit, snapshotInSteps } from './journal.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { lossIn, lost, vanished } from './loss.ts';
import { MarkFile } from './mark.ts';
import type { SqliteStoreOptions } from './open.ts';
import { type Answer, packFailure, type Request } from './protocol.ts';
import { pruneInSteps } from './prune.ts';
import { buffersOf, checkStructure, readAll } from './recovery.ts';
import { Reserve } from './reserve.ts';

type Append = Extract<Request, { kind: 'append' }>;

interface Open {
  readonly connection: Connection;
  seq: number;
  /** Accepted; gone with the next record, whose mark says what is true from then on. */
  loss: Loss | null;
}

const port = present(parentPort, 'the parent of the store thread');
const {
  directory,
  acceptLoss = false,
  traces = [],
} = workerData as Omit<SqliteStoreOptions, 'warn'>;
const markFile = new MarkFile(directory);
const reserve = new Reserve(directory);

const waiting: Request[] = [];
const inSteps: { readonly id: number; readonly steps: Steps<unknown> }[] = [];
let lock: DirectoryLock | undefined;
let open: Open | undefined;
let turnIsDue = false;
/** There was no file, and should have been one. */
let isVanished = false;

/**
 * The connection is made anew after a failure. Whether a commit that failed while syncing is in the
 * log or not, SQLite decides when it reads the log again; from then on file and memory agree.
 */
function current(): Open {
  if (open === undefined) {
    const connection = openConnection(directory);
    try {
      open = { connection, ...checked(connection) };
    } catch (error) {
      connection.close();
      throw error;
    }
  }
  return open;
}

/** What the last record is, and that nothing which was promised is missing. */
function checked(connection: Connection): Pick<Open, 'seq' | 'loss'> {
  const seq = lastSeq(connection);
  const mark = markFile.read() ?? (isVanished ? 'unreadable' : null);
  const loss = lossIn(connection, seq, mark);
  if (loss === null) return { seq, loss };
  checkStructure(connection, directory);
  if (!acceptLoss) throw lost(connection, directory, { loss, mark });
  return { seq, loss };
}

const connect = () => current().connection;

function say(answer: Answer, transfer: ArrayBuffer[] = []): void {
  port.postMessage(answer, transfer);
}

/** The reserve is for records: a snapshot that finds no room is made another time. */
function refuse(ids: readonly number[], error: unknown, what: 'record' | 'other' = 'other'): void {
  const failure = toStoreFailure(error, directory);
  if (failure.reason !== 'locked') {
    open?.connection.close();
    open = undefined;
  }
  if (failure.reason === 'full' && what === 'record') reserve.spend();
  say({ kind: 'failed', ids, failure: packFailure(failure) });
}

function turn(): void {
  takeAllFromPort();
  const request = waiting.shift();
  if (request?.kind === 'append') commitTogether([request, ...takeAppends(request)]);
  else if (request !== undefined) answerSafely(request);
  doOneStep();
  if (waiting.length > 0 || inSteps.length > 0) soon();
}

function soon(): void {
  if (turnIsDue) return;
  turnIsDue = true;
  setImmediate(() => {
    turnIsDue = false;
    turn();
  });
}

/** Merges without waiting for the event loop to hand over one message at a time. */
function takeAllFromPort(): void {
  while (waiting.length < MERGED_APPENDS_MAX) {
    const received = receiveMessageOnPort(port);
    if (received === undefined) return;
    waiting.push(received.message as Request);
  }
}

function takeAppends(first: Append): Append[] {
  const taken: Append[] = [];
  let bytes = first.commit.bytes.length;
  for (;;) {
    const next = waiting[0];
    if (next?.kind !== 'append' || taken.length + 1 >= MERGED_APPENDS_MAX) return taken;
    bytes += next.commit.bytes.length;
    if (bytes > MERGED_BYTES_MAX) return taken;
    waiting.shift();
    taken.push(next);
  }
}

/** After a failure the appends behind it fail too: they no longer follow the last record. */
function commitTogether(appends: readonly Append[]): void {
  const ids = appends.map((append) => append.id);
  const commits: PackedCommit[] = appends.map((append) => append.commit);
  try {
    const now = current();
    appendAll(now.connection, now.seq, commits);
    now.seq += commits.length;
    now.loss = null;
    promise(commits);
    say({ kind: 'appended', ids });
  } catch (error) {
    refuse(ids, error, 'record');
  }
}

/** Without its mark a record is not promised: the head reads again what is there. */
function promise(commits: readonly PackedCommit[]): void {
  const { seq, bytes, given } = present(commits.at(-1), 'the last commit');
  markFile.write({ seq, crc: crc32(bytes), given });
}

function answerSafely(request: Exclude<Request, Append>): void {
  try {
    answer(request);
  } catch (error) {
    refuse([request.id], error);
  }
}

function answer(request: Exclude<Request, Append>): void {
  const { id } = request;
  switch (request.kind) {
    case 'recover':
      recover(id);
      break;
    case 'probe':
      say({ kind: 'value', id, value: roomNow() });
      break;
    case 'snapshot':
      later(id, snapshotInSteps(connect, request.seq, request.bytes));
      break;
    case 'jobs':
      later(id, jobsInSteps(connect, request.query));
      break;
    case 'tasks':
      later(id, tasksInSteps(connect, request.query));
      break;
    case 'usage':
      later(id, usageInSteps(connect, request.query));
      break;
    case 'prune':
      later(id, pruneInSteps(connect, request.rule, directory));
      break;
    case 'close':
      close(id);
      break;
    default:
      unreachable(request);
  }
}

function recover(id: number): void {
  const { connection, loss } = current();
  const value = readAll(connection, directory);
  const { isElsewhere } = markFile;
  say(
    { kind: 'value', id, value: { ...value, loss, isElsewhere, room: roomLeft() } },
    buffersOf(value),
  );
}

function later(id: number, steps: Steps<unknown>): void {
  inSteps.push({ id, steps });
}

function doOneStep(): void {
  const first = inSteps[0];
  if (first === undefined) return;
  try {
    const step = first.steps.next();
    if (!step.done) return;
    inSteps.shift();
    say({ kind: 'value', id: first.id, value: step.value });
  } catch (error) {
    inSteps.shift();
    refuse([first.id], error);
  }
}

/** Writing again would not help. */
const LASTING: ReadonlySet<StoreFailure['reason']> = new Set(['foreign', 'newer', 'lost']);

function roomNow(): Room {
  reserve.fill();
  if (canWrite()) return roomLeft();
  // The reserve may have been made again, by a hair too early.
  return reserve.spend() && canWrite() ? 'ends_only' : 'none';
}

function roomLeft(): Exclude<Room, 'none'> {
  return reserve.isSpent ? 'ends_only' : 'enough';
}

function canWrite(): boolean {
  try {
    const { connection } = current();
    connection.transaction(() => {
      connection
        .statement('INSERT OR REPLACE INTO scratch (id, bytes) VALUES (1, zeroblob(?))')
        .run(PROBE_BYTES);
    });
    connection.transaction(() => connection.statement('DELETE FROM scratch').run());
    return true;
  } catch (error) {
    const failure = toStoreFailure(error, directory);
    if (LASTING.has(failure.reason)) throw failure;
    open?.connection.close();
    open = undefined;
    return false;
  }
}

function close(id: number): void {
  while (inSteps.length > 0) doOneStep();
  open?.connection.close();
  open = undefined;
  markFile.close();
  lock?.release();
  say({ kind: 'value', id, value: null });
  port.close();
}

/**
 * On a full disk once more, with what the reserve gives: jobs can be looked at and cancelled then.
 * Says what is not as it should be.
 */
function openDirectory(): string | null {
  try {
    return openOnce();
  } catch (error) {
    if (toStoreFailure(error, directory).reason !== 'full' || !reserve.spend()) throw error;
    return openOnce();
  }
}

function openOnce(): string | null {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o700);
  lock ??= lockDirectory(directory);
  const gone = vanished(directory, traces);
  if (gone !== null && !acceptLoss) throw gone;
  isVanished = gone !== null;
  current();
  return reserve.fill();
}

function start(): void {
  try {
    say({ kind: 'opened', warning: openDirectory() });
  } catch (error) {
    lock?.release();
    say({ kind: 'open_failed', failure: packFailure(toStoreFailure(error, directory)) });
    port.close();
    return;
  }
  port.on('message', (request: Request) => {
    waiting.push(request);
    turn();
  });
}

start();
