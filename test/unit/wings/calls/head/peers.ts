// Programs and workers for tests of the head's side of calls: they say what the test says.

import type { TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { INSIDE_HEADER } from '../../../../../src/kernel/model/inside.ts';
import type { LaunchOrder } from '../../../../../src/kernel/model/orders.ts';
import { insideProof } from '../../../../../src/kernel/wire/inside-proof.ts';
import type {
  ClientToRouter,
  RouterToClient,
  RouterToWorker,
  WorkerToRouter,
} from '../../../../../src/wings/calls/core/messages.ts';
import {
  CLIENT_TO_ROUTER,
  FrameWriter,
  type Layout,
  ROUTER_TO_CLIENT,
  ROUTER_TO_WORKER,
  readFrame,
  WORKER_TO_ROUTER,
} from '../../../../../src/wings/calls/wire/call-frames.ts';
import { eventually, type World } from '../../../kernel/head/http/fixture.ts';
import { PLAIN_CALL } from '../plain-call.ts';

interface Message {
  readonly kind: string;
}

export class Voice<Out extends Message, In extends Message> {
  readonly socket: WebSocket;
  readonly heard: In[] = [];
  /** Frames that came. */
  frames = 0;
  isClosed = false;
  readonly #writes: Layout<Out>;

  constructor(socket: WebSocket, writes: Layout<Out>, reads: Layout<In>) {
    this.socket = socket;
    this.#writes = writes;
    socket.on('message', (data: Buffer) => {
      const read = readFrame(reads, data);
      if (!read.ok) throw new Error(read.error);
      this.frames += 1;
      this.heard.push(...read.value);
    });
    socket.on('close', () => {
      this.isClosed = true;
    });
  }

  say(...messages: readonly Out[]): void {
    const writer = new FrameWriter(this.#writes);
    for (const message of messages) writer.add(message);
    this.socket.send(writer.take());
  }

  of<K extends In['kind']>(kind: K): Extract<In, { kind: K }>[] {
    return this.heard.filter((one) => one.kind === kind) as Extract<In, { kind: K }>[];
  }

  /** The first of this kind, once it is there. */
  async hears<K extends In['kind']>(kind: K, count = 1): Promise<Extract<In, { kind: K }>> {
    await eventually(() => this.of(kind).length >= count);
    return this.of(kind)[count - 1] as Extract<In, { kind: K }>;
  }
}

export type Program = Voice<ClientToRouter, RouterToClient>;
export type Worker = Voice<WorkerToRouter, RouterToWorker>;

/** Rejects with the status when the head does not let it in. */
export function dial(
  t: TestContext,
  { http: { port } }: World,
  path: string,
  authorization: string,
  more: Readonly<Record<string, string>> = {},
): Promise<WebSocket> {
  const options = { headers: { authorization, ...more }, rejectUnauthorized: false };
  const socket = new WebSocket(`wss://127.0.0.1:${port}${path}`, options);
  t.after(() => socket.terminate());
  return new Promise((resolve, reject) => {
    socket.once('open', () => resolve(socket));
    socket.once('unexpected-response', (_, response) =>
      reject(new Error(`${response.statusCode}`)),
    );
    socket.once('error', reject);
  });
}

export async function program(
  t: TestContext,
  world: World,
  of: { readonly user: string; readonly pool: string; readonly within?: LaunchOrder },
): Promise<Program> {
  const { user, pool, within } = of;
  const path = `/v1/pools/${pool}/calls/socket`;
  const more = within === undefined ? {} : { [INSIDE_HEADER]: insideOf(within) };
  const socket = await dial(t, world, path, `Bearer ${await world.token(user)}`, more);
  const voice: Program = new Voice(socket, CLIENT_TO_ROUTER, ROUTER_TO_CLIENT);
  const name = within === undefined ? user : `${user} ${within.place.jobId}`;
  const session = Buffer.from(name).toString('hex').padEnd(32, '0');
  voice.say({ kind: 'hello', session, generation: null, detach: false, label: `${user}'s` });
  return voice;
}

/** What a program in a call of this worker shows. */
function insideOf({ epochId, pool }: LaunchOrder): string {
  return insideProof({ epochId, depth: 0, key: pool?.key ?? '' });
}

export function credentials({ epochId, pool }: LaunchOrder): string {
  return `Worker ${epochId}:${pool?.key}`;
}

/** The worker that this order starts on node n1. */
export async function worker(t: TestContext, world: World, order: LaunchOrder): Promise<Worker> {
  const path = `/v1/pools/${order.place.jobId}/work`;
  const socket = await dial(t, world, path, credentials(order));
  const voice: Worker = new Voice(socket, WORKER_TO_ROUTER, ROUTER_TO_WORKER);
  voice.say(hello(`n1:${order.epochId}`));
  return voice;
}

export function hello(name: string): WorkerToRouter {
  return { kind: 'hello', worker: name, generation: null, held: [], over: [] };
}

export const FUNCTION: ClientToRouter = {
  kind: 'asset',
  asset: 1,
  sha256: 'a'.repeat(64),
  size: 3,
  bytes: null,
};

export function call(number: number, text = `${number}`): ClientToRouter {
  return {
    ...PLAIN_CALL,
    call: number,
    payload: { inline: Buffer.from(text) },
  };
}
