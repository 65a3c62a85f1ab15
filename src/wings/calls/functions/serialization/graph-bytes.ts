// Structured clone of V8, with one thing more: objects that stand for something else (stubs), which
// the reader replaces.

import { DefaultDeserializer, DefaultSerializer } from 'node:v8';
import { CALL_INLINE_BYTES_MAX } from '../../../../kernel/model/limits.ts';
import { release } from '../../core/kept.ts';

/** Stands in a graph for what structured clone cannot carry. Its identity is what counts. */
export type Stub = Uint8Array & { readonly __stub?: never };

const STUB = 0xffff;

const VIEWS = [
  ...[Int8Array, Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array],
  ...[Float32Array, Float64Array, DataView, BigInt64Array, BigUint64Array],
] as const;
const BUFFER = VIEWS.length;
/** Float16Array is younger than some versions of Node that a client may run. */
const FLOAT16 = BUFFER + 1;

type View = ArrayBufferView & { readonly constructor: unknown };
type ViewMaker = new (buffer: ArrayBuffer) => ArrayBufferView;

class GraphSerializer extends DefaultSerializer {
  readonly #stubs: ReadonlyMap<unknown, number> | undefined;

  constructor(stubs: ReadonlyMap<unknown, number> | undefined) {
    super();
    this.#stubs = stubs;
  }

  _writeHostObject(view: View): void {
    const stub = this.#stubs?.get(view);
    if (stub !== undefined) {
      this.writeUint32(STUB);
      this.writeUint32(stub);
      return;
    }
    this.writeUint32(typeOf(view));
    this.writeUint32(view.byteLength);
    this.writeRawBytes(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
  }
}

function typeOf(view: View): number {
  if (Buffer.isBuffer(view)) return BUFFER;
  const index = (VIEWS as readonly unknown[]).indexOf(view.constructor);
  if (index >= 0) return index;
  const tag = Object.prototype.toString.call(view).slice(8, -1);
  if (tag === 'Float16Array') return FLOAT16;
  const like = VIEWS.findIndex(({ name }) => name === tag);
  if (like < 0) throw new TypeError(`${tag} could not be cloned`);
  return like;
}

class GraphDeserializer extends DefaultDeserializer {
  readonly #revive: ((stub: number) => unknown) | undefined;

  constructor(bytes: Uint8Array, revive: ((stub: number) => unknown) | undefined) {
    super(bytes);
    this.#revive = revive;
  }

  _readHostObject(): unknown {
    const type = this.readUint32();
    if (type === STUB) {
      if (this.#revive === undefined) throw new RangeError('a stub in plain bytes');
      return this.#revive(this.readUint32());
    }
    const bytes = this.readRawBytes(this.readUint32());
    if (type === BUFFER) return bytes.length > VIEW_BYTES ? bufferOf(bytes) : Buffer.from(bytes);
    const maker = type === FLOAT16 ? float16() : (VIEWS[type] as ViewMaker | undefined);
    if (maker === undefined) throw new RangeError(`unknown type of view ${type}`);
    // A buffer of its own: callees read `array.buffer` as if it held this array and nothing else.
    return new maker(new Uint8Array(bytes).buffer);
  }
}

/** Packed values of this size are in memory of their own; smaller ones share that of a frame. */
const VIEW_BYTES = CALL_INLINE_BYTES_MAX;

/** Packed values in whose memory buffers of the value lie. */
const lasting = new WeakSet<ArrayBufferLike>();

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  lasting.add(buffer);
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}

function float16(): ViewMaker | undefined {
  return (globalThis as { Float16Array?: ViewMaker }).Float16Array;
}

export interface GraphOptions {
  readonly stubs?: ReadonlyMap<unknown, number>;
  /** Written before the graph: a large one is not copied for it. */
  readonly prefix?: Uint8Array;
}

/** Throws what V8 throws for values that have no clone. */
export function writeGraph(value: unknown, { stubs, prefix }: GraphOptions = {}): Buffer {
  const serializer = new GraphSerializer(stubs);
  if (prefix !== undefined) serializer.writeRawBytes(prefix);
  serializer.writeHeader();
  serializer.writeValue(value);
  return serializer.releaseBuffer();
}

export function readGraph(bytes: Uint8Array, revive?: (stub: number) => unknown): unknown {
  const deserializer = new GraphDeserializer(bytes, revive);
  deserializer.readHeader();
  return deserializer.readValue();
}

/** Frees a packed value that was read and that nobody else has, where its value can do without. */
export function releaseRead(bytes: Uint8Array): void {
  if (!lasting.has(bytes.buffer)) release(bytes);
}
