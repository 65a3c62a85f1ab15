// The server of steps: the process that a task with `--mpi` has on every node but its first. Its
// children are processes of the task there, with its group, its limits and its end.

import type { Socket } from 'node:net';
import { createServer, type TlsOptions } from 'node:tls';
import { type Bounds, Newcomers } from '../../../kernel/listeners/newcomers.ts';
import type { Allocation } from './allocation.ts';
import { identityOf, keyOf, portsOf, TLS_OPTIONS } from './secrecy.ts';
import { Step } from './step.ts';

/** More than one program starts on one node at a time. */
const STEPS_MAX = 1024;
/** A connection that shows no key is closed after this. */
const HANDSHAKE_MS = 10_000;
/** Those without the key must not use up the steps of those with it. */
const BOUNDS: Bounds = { perAddress: 256, total: STEPS_MAX, local: 0, graceMs: 500 };

export interface StepServer {
  readonly port: number;
  /** Takes no more steps, ends those that run, and resolves when they have ended. */
  stop(): Promise<void>;
}

/** Listens where the task's other processes look for it. Rejects when no port is free. */
export async function serveSteps(allocation: Allocation): Promise<StepServer> {
  const { self } = allocation;
  const identity = identityOf(allocation, self);
  const key = keyOf(allocation, self);
  const steps = new Set<Step>();
  const options: TlsOptions = {
    ...TLS_OPTIONS,
    handshakeTimeout: HANDSHAKE_MS,
    pskCallback: (_socket, named) => (named === identity ? key : null),
  };
  let whenIdle: (() => void) | null = null;
  const newcomers = new Newcomers(() => performance.now(), BOUNDS);
  const server = createServer(options, (socket) => {
    newcomers.proven(socket);
    if (steps.size >= STEPS_MAX) return void socket.destroy();
    const step: Step = new Step(socket, () => {
      steps.delete(step);
      if (steps.size === 0) whenIdle?.();
    });
    steps.add(step);
  });
  server.on('connection', (socket: Socket) => newcomers.add(socket, false));
  const port = await listen(server, portsOf(allocation, self));
  return {
    port,
    stop: async () => {
      server.close();
      for (const step of steps) step.terminate();
      if (steps.size > 0) await new Promise<void>((resolve) => (whenIdle = resolve));
    },
  };
}

type Server = ReturnType<typeof createServer>;

async function listen(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) if (await tryPort(server, port)) return port;
  throw new Error(`no port is free for the steps of this job; ${ports.join(', ')} are in use`);
}

/** False when somebody else has it. */
async function tryPort(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      server.off('listening', onListening);
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    const onListening = (): void => {
      server.off('error', onError);
      resolve(true);
    };
    server.once('error', onError);
    server.once('listening', onListening);
    server.listen(port);
  });
}
