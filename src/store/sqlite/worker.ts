// The store's thread: waiting appends share one transaction; long work (snapshots, questions) is
// done in steps in between. Everything else is answered in the order it was asked.

import { chmodSync, mkdirSync } from 'node:fs';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { present, unreachable } from '../../core/base/assert.ts';
import { MERGED_APPENDS_MAX, MERGED_BYTES_MAX, PROBE_BYTES } from './bounds.ts';
import { type Connection, openConnection } from './connection.ts';
import { toStoreFailure } from './failures.ts';
import { jobsInSteps, type Steps, tasksInSteps } from './history-queries.ts';
import { appendAll, lastSeq, type PackedCommit, snapshotInSteps } from './journal.ts';
import { type DirectoryLock, lockDirectory } from './lock.ts';
import { type Answer, packFailure, type Request } from './protocol.ts';
import { buffersOf, readAll } from './recovery.ts';

type Append = Extract<Request, { kind: 'append' }>;

const port = present(parentPort, 'the parent of the store thread');
const { directory } = workerData as { readonly directory: string };

const waiting: Request[] = [];
const inSteps: { readonly id: number; readonly steps: Steps<unknown> }[] = [];
let lock: DirectoryLock | undefined;
let open: { readonly connection: Connection; seq: number } | undefined;
let turnIsDue = false;

/**
 * The connection is made anew after a failure. Whether a commit that failed while syncing is in the
 * log or not, SQLite decides when it reads the log again; from then on file and memory agree.
 */
function current(): { readonly connection: Connection; seq: number } {
  if (open === undefined) {
    const connection = openConnection(directory);
    open = { connection, seq: lastSeq(connection) };
  }
  return open;
}

const connect = () => current().connection;

function say(answer: Answer, transfer: ArrayBuffer[] = []): void {
  port.postMessage(answer, transfer);
}

function refuse(ids: readonly number[], error: unknown): void {
  const failure = toStoreFailure(error, directory);
  if (failure.reason !== 'locked') {
    open?.connection.close();
    open = undefined;
  }
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
    say({ kind: 'appended', ids });
  } catch (error) {
    refuse(ids, error);
  }
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
      say({ kind: 'value', id, value: canWrite() });
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
    case 'close':
      close(id);
      break;
    default:
      unreachable(request);
  }
}

function recover(id: number): void {
  const value = readAll(connect(), directory);
  say({ kind: 'value', id, value }, buffersOf(value));
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
    if (failure.reason === 'foreign' || failure.reason === 'newer') throw failure;
    open?.connection.close();
    open = undefined;
    return false;
  }
}

function close(id: number): void {
  while (inSteps.length > 0) doOneStep();
  open?.connection.close();
  open = undefined;
  lock?.release();
  say({ kind: 'value', id, value: null });
  port.close();
}

function start(): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
    lock = lockDirectory(directory);
    current();
    say({ kind: 'opened' });
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
