// Named pipes between an agent and the helper of a step.

import { execFile } from 'node:child_process';
import { chownSync, closeSync, constants, fstatSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Owner } from '../../../kernel/ports/files.ts';
import type { StepPipes } from '../ports/steps.ts';

const run = promisify(execFile);
const SAFE = constants.O_NONBLOCK | constants.O_NOFOLLOW;
// Both ways: neither side waits for the other to open.
const INPUT = constants.O_RDWR | SAFE;
const OUTPUT = constants.O_RDONLY | SAFE;
/** A writer of ours: as long as it is open the helper's output has no end. */
const HELD = constants.O_WRONLY | SAFE;

/** `folder`: the agent's own, through which users pass. Pipes of an earlier life are replaced. */
export async function makeStepPipes(
  folder: string,
  name: string,
  owner: Owner | null,
): Promise<StepPipes> {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const inPath = join(folder, `${name}.in`);
  const outPath = join(folder, `${name}.out`);
  const both = [inPath, outPath];
  for (const path of both) rmSync(path, { force: true });
  await run('mkfifo', ['-m', '600', '--', ...both]);
  if (owner !== null) for (const path of both) chownSync(path, owner.uid, owner.gid);
  const writer = new Socket({ fd: openPipe(inPath, INPUT), readable: false, writable: true });
  const reader = new Socket({ fd: openPipe(outPath, OUTPUT), readable: true, writable: false });
  for (const socket of [writer, reader]) socket.on('error', () => socket.destroy());
  let held: number | null = openPipe(outPath, HELD);
  const letGo = (): void => {
    if (held !== null) closeSync(held);
    held = null;
  };
  return {
    inPath,
    outPath,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        writer.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    onBytes: (heard) => void reader.on('data', heard),
    pause: () => void reader.pause(),
    resume: () => void reader.resume(),
    finish: (ended) => {
      if (reader.destroyed) return ended();
      reader.once('close', ended);
      letGo();
    },
    close: () => {
      letGo();
      writer.destroy();
      reader.destroy();
      for (const path of both) rmSync(path, { force: true });
    },
  };
}

function openPipe(path: string, flags: number): number {
  const fd = openSync(path, flags);
  if (fstatSync(fd).isFIFO()) return fd;
  closeSync(fd);
  throw new Error(`${path} is not a pipe`);
}
