// The process that runs functions. It is started by the supervisor of a worker, reads calls from
// one pipe, writes results into another, and ends when the first is closed.

import { writeSync, writevSync } from 'node:fs';
import { Socket } from 'node:net';
import { CALL_BYTES_MAX } from '../../../../kernel/model/limits.ts';
import { fillRoom, hostWith, readValue } from '../near-memory.ts';
import { releaseHere } from '../release.ts';
import { FrameBatch, FrameReader, TO_CHILD, TO_SUPERVISOR, unknownToChild } from './frames.ts';
import { isolate } from './isolation.ts';
import { Runner, type RunnerOptions } from './runner.ts';
import { CALL_VARIABLE, CALLS_FD, callMark, RESULTS_FD } from './stdio.ts';

const READ_BYTES = 256 * 1024;
/** EX_SOFTWARE of sysexits(3). */
const SOFTWARE = 70;

const NOTHING = new Uint8Array();
const batch = new FrameBatch();
let isLeaving = false;
const isolation = begin();
const ownMark = process.env[CALL_VARIABLE] ?? '';

const options = JSON.parse(process.argv[2] ?? '{}') as RunnerOptions;
const runner = new Runner(options, {
  write: (head, bytes = NOTHING) => batch.add(head, bytes),
  flush,
  tell,
  refuse,
  now: () => performance.now(),
  residentBytes: () => process.memoryUsage.rss(),
  read: readValue,
  fill: fillRoom,
  later: (act) => setImmediate(act),
  isolation,
  mark: (run) => isolation.tell(CALL_VARIABLE, callMark(ownMark, run)),
});

function flush(): void {
  let left = batch.take();
  while (left.length > 0) {
    const [first] = left;
    // One buffer, as most are, goes out in half the time of a list of one.
    let written =
      left.length === 1 && first !== undefined
        ? writeSync(RESULTS_FD, first)
        : writevSync(RESULTS_FD, left);
    if (left.length === 1 && written === first?.length) return;
    left = left.flatMap((part) => {
      const done = Math.min(written, part.length);
      written -= done;
      return done === part.length ? [] : [part.subarray(done)];
    });
  }
}

/** The child's own listeners, then the watch over those of others. */
function begin(): ReturnType<typeof isolate> {
  process.on('uncaughtException', (error) => runner.uncaught(error, 'an uncaught exception'));
  process.on('unhandledRejection', (error) => runner.uncaught(error, 'an unhandled rejection'));
  process.on('exit', (code) => {
    if (!isLeaving) batch.add({ kind: TO_SUPERVISOR.exiting, a: code });
    flush();
  });
  // Signals of the terminal and of `weft kill --signal` are for the supervisor, or for handlers of
  // a call.
  for (const name of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.on(name, () => undefined);
  const reader = new FrameReader(CALL_BYTES_MAX + READ_BYTES, (frame) => {
    if (frame.kind === TO_CHILD.leave) leave();
    else runner.take(frame);
  });
  const calls = new Socket({
    fd: CALLS_FD,
    readable: true,
    writable: false,
    onread: {
      buffer: Buffer.allocUnsafeSlow(READ_BYTES),
      callback: (bytes: number, buffer: Uint8Array) => {
        reader.feed(buffer.subarray(0, bytes));
        return true;
      },
    },
  });
  calls.on('error', leave);
  calls.on('end', leave);
  calls.resume();
  return isolate();
}

/** The supervisor is gone, or has no more use for this process. */
function leave(): void {
  isLeaving = true;
  process.exit(0);
}

function tell(line: string): void {
  process.stderr.write(`weft: ${line}\n`);
}

/** A call behind such a frame would wait for ever; so its end is told, and why. */
function refuse(kind: number): void {
  tell(unknownToChild(kind, options.release, releaseHere()));
  isLeaving = true;
  process.exit(SOFTWARE);
}

const host = options.supervisor === undefined ? '' : hostWith(options.supervisor);
batch.add({ kind: TO_SUPERVISOR.ready, a: process.pid }, Buffer.from(host));
flush();
