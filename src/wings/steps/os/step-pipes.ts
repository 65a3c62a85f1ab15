// Named pipes between an agent and the helper of a step.

import { execFile } from 'node:child_process';
import { chownSync, constants, fstatSync, mkdirSync, openSync, readSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Owner } from '../../../kernel/ports/files.ts';
import type { StepPipes } from '../ports/steps.ts';

const run = promisify(execFile);
// Both ways: neither side waits for the other to open, and no end is seen while we live.
const FLAGS = constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** What a pipe may hold, by far (pipe(7): 64 KiB unless somebody asks for more). */
const REST_BYTES_MAX = 1_048_576;

/** `folder`: the agent's own, through which users pass. Pipes of an earlier life are replaced. */
export async function makeStepPipes(
  folder: string,
  name: string,
  owner: Owner | null,
): Promise<StepPipes> {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const inPath = join(folder, `${name}.in`);
  const outPath = join(folder, `${name}.out`);
  for (const path of [inPath, outPath]) rmSync(path, { force: true });
  await run('mkfifo', ['-m', '600', '--', inPath, outPath]);
  const [input, output] = [inPath, outPath].map((path) => openPipe(path, owner)) as [
    number,
    number,
  ];
  const writer = new Socket({ fd: input, readable: false, writable: true });
  const reader = new Socket({ fd: output, readable: true, writable: false });
  for (const socket of [writer, reader]) socket.on('error', () => socket.destroy());
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
    rest: () => restOf(reader, output),
    close: () => {
      writer.destroy();
      reader.destroy();
      for (const path of [inPath, outPath]) rmSync(path, { force: true });
    },
  };
}

function openPipe(path: string, owner: Owner | null): number {
  if (owner !== null) chownSync(path, owner.uid, owner.gid);
  const fd = openSync(path, FLAGS);
  if (!fstatSync(fd).isFIFO()) throw new Error(`${path} is not a pipe`);
  return fd;
}

/** What Node has read already, then what the kernel has. */
function restOf(reader: Socket, fd: number): Buffer {
  if (reader.destroyed) return Buffer.alloc(0);
  reader.pause();
  const parts: Buffer[] = [];
  for (let part = reader.read(); part !== null; part = reader.read()) parts.push(part as Buffer);
  const piece = Buffer.alloc(65_536);
  for (let bytes = 0; bytes < REST_BYTES_MAX; ) {
    const count = readNow(fd, piece);
    if (count === 0) break;
    parts.push(Buffer.from(piece.subarray(0, count)));
    bytes += count;
  }
  return Buffer.concat(parts);
}

function readNow(fd: number, into: Buffer): number {
  try {
    return readSync(fd, into);
  } catch {
    return 0; // EAGAIN: nothing is there.
  }
}
