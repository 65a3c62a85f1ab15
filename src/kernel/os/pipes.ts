// Named pipes of Linux.

import { execFile } from 'node:child_process';
import { chownSync, closeSync, constants, fstatSync, openSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { promisify } from 'node:util';
import type { FeedPipe, Pipes } from '../ports/pipes.ts';

const run = promisify(execFile);
// Open for reading too, or the open would wait for a reader; never blocking, so that a reader that
// does not read holds up a callback and not a thread.
const FLAGS = constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** `mkfifo` is a program of every Linux; Node has no call for it. */
export const systemPipes: Pipes = {
  async make(path, owner) {
    await run('mkfifo', ['-m', '600', '--', path]);
    if (owner !== null) chownSync(path, owner.uid, owner.gid);
    const fd = openSync(path, FLAGS);
    if (fstatSync(fd).isFIFO())
      return pipeOf(path, new Socket({ fd, readable: false, writable: true }));
    closeSync(fd);
    throw new Error(`${path} is not a pipe`);
  },
  // Its reader took the end of its writer for the end of the input.
  resume(path) {
    systemPipes.remove(path);
    return null;
  },
  remove: (path) => rmSync(path, { force: true }),
};

function pipeOf(path: string, socket: Socket): FeedPipe {
  const remove = (): void => {
    socket.destroy();
    rmSync(path, { force: true });
  };
  let failed: Error | null = null;
  socket.on('error', (error) => {
    failed = error;
  });
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (failed !== null) reject(failed);
        else socket.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => Promise.resolve(remove()),
    remove,
  };
}
