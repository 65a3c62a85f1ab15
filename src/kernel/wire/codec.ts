// Messages ↔ bytes: msgpack, size-checked. Anything that does not decode is a refusal, not a crash.

// Not from 'msgpackr': that looks for a native reader of strings, which needs an install script.
// Our overrides leave a stub in its place, and each message then threw and caught an error.
import { Packr } from 'msgpackr/pack';
import { err, ok, type Result } from '../base/result.ts';
import type { Stamp } from '../model/life.ts';
import { MESSAGE_BYTES_MAX } from '../model/limits.ts';
import { AGENT_SHAPES, findFlaw } from './agent-shape.ts';
import type { AgentToHead, HeadToAgent } from './messages.ts';
import { OrderReader, type SentOrder } from './orders.ts';
import { decodeShortBeat, isShortBeat } from './short-beat.ts';

// Plain maps and no record extension: the bytes stay readable by every msgpack library and by
// every later release. Copies on decode keep a received buffer from living as long as its values.
const packr = new Packr({ useRecords: false, variableMapSize: true, copyBuffers: true });

export function encode(value: unknown): Uint8Array {
  return packr.pack(value);
}

/** Decodes one value; the reason in words when the bytes are none. */
export function decode(bytes: Uint8Array): Result<unknown, string> {
  if (bytes.length > MESSAGE_BYTES_MAX) return err(`${bytes.length} bytes are too many`);
  try {
    return ok(packr.unpack(bytes));
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

// For the journal and its snapshots, which only this program reads: msgpack with the keys of equal
// maps said once (msgpackr's record extension). Measured on 1,000 submissions: a quarter of the
// bytes, a fifth of the time to read.
const recordPackr = new Packr({ useRecords: true, mapsAsObjects: true });

export function encodeRecords(value: unknown): Uint8Array {
  return recordPackr.pack(value);
}

/** Elements of a list that become bytes in one turn: a few milliseconds. */
const SLICE = 1000;
const MAP_32 = 0xdf;
const ARRAY_32 = 0xdd;

/** An element of a list as it is written after the one before it. */
export type Brief = (element: object, before: object) => object;

/**
 * The same of a large map, in slices: before the first yield all but the lists under the names in
 * `long` is bytes, and before each other one a part of such a list more.
 */
export function* encodeInSlices(
  value: object,
  long: ReadonlyMap<string, Brief>,
): Generator<undefined, Uint8Array> {
  const names = Object.keys(value);
  const fields = new Map(Object.entries(value));
  const lists = names.filter((name) => long.has(name) && Array.isArray(fields.get(name)));
  const parts: Uint8Array[] = [headOf(MAP_32, names.length)];
  for (const name of names) {
    if (!lists.includes(name)) parts.push(encodeRecords(name), encodeRecords(fields.get(name)));
  }
  yield;
  for (const name of lists) {
    const list = fields.get(name) as readonly object[];
    const brief = long.get(name) as Brief;
    const written = (element: object, at: number): object => {
      const before = list[at - 1];
      return before === undefined ? element : brief(element, before);
    };
    parts.push(encodeRecords(name), headOf(ARRAY_32, list.length));
    for (let at = 0; at < list.length; at += SLICE) {
      const slice = list.slice(at, at + SLICE).map((one, offset) => written(one, at + offset));
      parts.push(encodeRecords(slice).subarray(headBytes(slice.length)));
      yield;
    }
  }
  return Buffer.concat(parts);
}

/** Before a list or map of so many: its kind, and how many. */
function headOf(kind: number, count: number): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(count, 1);
  return head;
}

/** How long it is before a list of a slice (msgpack: fixarray, array 16). */
function headBytes(count: number): number {
  return count < 16 ? 1 : 3;
}

/** Reads what `encodeRecords` wrote, and plain msgpack as well. */
export function decodeRecords(bytes: Uint8Array): Result<unknown, string> {
  try {
    return ok(recordPackr.unpack(bytes));
  } catch (error) {
    return err(error instanceof Error ? error.message : String(error));
  }
}

/** The compiler sees to it that none is missing; those of agents stand with their shapes. */
const HEAD_KINDS: Readonly<Record<HeadToAgent['kind'], true>> = {
  welcome: true,
  refused: true,
  heartbeat_ack: true,
  orders: true,
  site_cancel: true,
  site_ask: true,
  site_holds: true,
  site_stops: true,
  wing: true,
  stdin: true,
  reports_ack: true,
  log_ack: true,
};

export function decodeAgentMessage(bytes: Uint8Array): Result<AgentToHead, string> {
  if (isShortBeat(bytes)) return decodeShortBeat(bytes);
  const message = decodeUnion<AgentToHead>(bytes, AGENT_SHAPES);
  if (!message.ok) return message;
  const wrong = findFlaw(message.value);
  return wrong === null ? message : err(wrong);
}

/** `kept`: what this session has heard of orders that are alike. */
export function decodeHeadMessage(
  bytes: Uint8Array,
  kept = new OrderReader(),
): Result<HeadToAgent, string> {
  const message = decodeUnion<HeadToAgent>(bytes, HEAD_KINDS);
  if (!message.ok || message.value.kind !== 'orders') return message;
  const { orders: sent } = message.value;
  if (!isOrders(sent)) return err('orders are a list of maps with a kind');
  const orders = kept.readAll(sent);
  return orders.ok ? ok({ ...message.value, orders: orders.value }) : orders;
}

/** `stamp`: how far the head has come; null: it does not say. */
export function encodeOrders(orders: readonly SentOrder[], stamp: Stamp | null): Uint8Array {
  return encode({ kind: 'orders', orders, ...(stamp === null ? {} : { stamp }) });
}

/** Whether these are orders, as far as they can be told apart; the pinned head says the rest. */
function isOrders(sent: unknown): sent is SentOrder[] {
  const isOrder = (one: unknown) => typeof (one as { kind?: unknown } | null)?.kind === 'string';
  return Array.isArray(sent) && sent.every(isOrder);
}

/** Checks the kind, by a table that has all of them. */
function decodeUnion<T>(bytes: Uint8Array, kinds: object): Result<T, string> {
  const value = decode(bytes);
  if (!value.ok) return value;
  const message = value.value;
  if (typeof message !== 'object' || message === null) return err('a message is a map');
  const kind = (message as { kind?: unknown }).kind;
  if (typeof kind !== 'string' || !Object.hasOwn(kinds, kind))
    return err(`unknown kind ${String(kind)}`);
  return ok(message as T);
}
