// The agent's end of a session, in the test's hands.

import assert from 'node:assert/strict';
import type { Session } from '../../../../../src/kernel/ports/net.ts';
import { decodeHeadMessage, encode } from '../../../../../src/kernel/wire/codec.ts';
import {
  type AgentToHead,
  type Heartbeat,
  PROTOCOL_VERSION,
} from '../../../../../src/kernel/wire/messages.ts';
import { OrderReader } from '../../../../../src/kernel/wire/orders.ts';
import { encodeShortBeat } from '../../../../../src/kernel/wire/short-beat.ts';
import { helloOf } from '../../../../support/nodes.ts';

/** What an agent says first, but for when it dialed. */
export const HELLO = {
  kind: 'hello',
  protocol: PROTOCOL_VERSION,
  hello: helloOf('n1'),
  features: [],
} as const;

/** One agent's monotonic clock when it last dialed. */
let dialedAt = 0;

export function dial(): number {
  dialedAt += 1;
  return dialedAt;
}

/** The agent's end of a session, in the test's hands. */
export class FakeSession implements Session {
  readonly peer: string;
  readonly heard: string[] = [];
  readonly bytes: Uint8Array[] = [];
  /** How often it was told how far the head has come. */
  stamps = 0;
  /** The heartbeat that was answered last. */
  sentAt: number | null = null;
  closed: string | null = null;
  readonly #kept = new OrderReader();
  #receive: (message: Uint8Array) => void = () => undefined;
  #onClose: (why: string) => void = () => undefined;

  constructor(peer: string) {
    this.peer = peer;
  }

  send(message: Uint8Array): void {
    this.bytes.push(message);
    const read = decodeHeadMessage(message, this.#kept);
    assert.ok(read.ok);
    const { value } = read;
    if ('stamp' in value && value.stamp !== undefined) this.stamps += 1;
    if (value.kind === 'heartbeat_ack') this.sentAt = value.sentAt;
    const more = value.kind === 'welcome' ? ` ${value.session}` : '';
    this.heard.push(`${value.kind}${more}`);
  }

  onMessage(handler: (message: Uint8Array) => void): void {
    this.#receive = handler;
  }

  onClose(handler: (why: string) => void): void {
    this.#onClose = handler;
  }

  close(why: string): void {
    if (this.closed !== null) return;
    this.closed = why;
    this.#onClose(why);
  }

  say(message: AgentToHead): void {
    this.#receive(encode(message));
  }

  beatShortly(heartbeat: Heartbeat): void {
    this.#receive(encodeShortBeat(heartbeat));
  }

  hello(name = this.peer): void {
    this.say({ ...HELLO, hello: helloOf(name), dialedAt: dial() });
  }

  garbage(value: unknown): void {
    this.#receive(encode(value));
  }
}
