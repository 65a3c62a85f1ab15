// Finds the launcher of a state directory, or starts one that outlives this program.

import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { LauncherStream } from '../ports/processes.ts';

export interface LauncherPlace {
  readonly socketPath: string;
  /** The file for the launcher's standard output and error. */
  readonly logFile: string;
  /** Program and first arguments. */
  readonly command: readonly string[];
}

/** Compiled C is up in milliseconds; the Node fallback takes far longer on a busy machine. */
const START_TIMEOUT_MS = 10_000;
const LOOK_MS = 5;
/** unix(7): 108 bytes with the final NUL. */
const SOCKET_PATH_BYTES_MAX = 107;

/** Connects, starting a launcher when none answers. Rejects when none could be reached in time. */
export async function reachLauncher(place: LauncherPlace): Promise<LauncherStream> {
  if (Buffer.byteLength(place.socketPath) > SOCKET_PATH_BYTES_MAX) {
    const limit = `${SOCKET_PATH_BYTES_MAX} bytes`;
    throw new Error(`${place.socketPath} is longer than ${limit}; choose a shorter directory`);
  }
  const running = await tryConnect(place.socketPath);
  if (running !== null) return streamOf(running);
  startDetached(place);
  const until = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < until) {
    const socket = await tryConnect(place.socketPath);
    if (socket !== null) return streamOf(socket);
    await wait(LOOK_MS);
  }
  throw new Error(`the launcher did not start within ${START_TIMEOUT_MS} ms; see ${place.logFile}`);
}

/** Whether a launcher serves this very socket: one in a copied folder is served by nobody. */
export async function isLauncherThere(socketPath: string): Promise<boolean> {
  const socket = await tryConnect(socketPath);
  socket?.destroy();
  return socket !== null;
}

function startDetached({ socketPath, logFile, command }: LauncherPlace): void {
  const [program, ...args] = command;
  if (program === undefined) throw new Error('no launcher program');
  const log = openSync(logFile, 'a', 0o600);
  const stdio: ['ignore', number, number] = ['ignore', log, log];
  // A session of its own: a signal to the agent's group or its terminal must not reach the jobs.
  const child = spawn(program, [...args, '--socket', socketPath], { detached: true, stdio });
  child.on('error', () => undefined); // The time-out above says that none came up.
  child.unref();
  closeSync(log);
}

function tryConnect(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(null));
  });
}

function streamOf(socket: Socket): LauncherStream {
  socket.on('error', () => socket.destroy()); // `close` follows and is what matters.
  return {
    write: (bytes) => void socket.write(bytes),
    onData: (handler) => void socket.on('data', handler),
    onClose: (handler) => void socket.on('close', handler),
    close: () => socket.end(),
  };
}
