// Functions and shared values: announced by clients, fetched from one of them when a worker wants
// them, kept within a bound, and told to workers by the router's own numbers.

import {
  CALL_ASSET_BYTES_MAX,
  CALL_ASSETS_MAX,
  CALL_INLINE_BYTES_MAX,
  CALL_PIECE_BYTES_MAX,
  CALL_STREAM_BYTES_MAX,
} from '../../../../kernel/model/limits.ts';
import { copied } from '../kept.ts';
import type { Asset as AssetMessage, Bytes } from '../messages.ts';
import type { Asset, Call, ClientLine, Fetch, Reader, Session, WorkerLine } from './records.ts';
import type { RouterState } from './state.ts';

/** A client names an asset; what is wrong with it, if anything. */
export function announce(
  state: RouterState,
  session: Session,
  message: AssetMessage,
): string | null {
  const { sha256, size, bytes } = message;
  if (size === 0) return `asset ${message.asset} is empty`;
  if (size > CALL_ASSET_BYTES_MAX)
    return `a shared value of ${size} bytes; ${CALL_ASSET_BYTES_MAX} are the most`;
  if (session.assets.size >= CALL_ASSETS_MAX)
    return `more than ${CALL_ASSETS_MAX} functions and values`;
  const known = session.assets.get(message.asset);
  if (known !== undefined && known.sha256 !== sha256) return `asset ${message.asset} was another`;
  const asset = state.assets.get(sha256) ?? newAsset(state, message);
  if (asset.size !== size) return `asset ${message.asset} has two sizes`;
  session.assets.set(message.asset, asset);
  session.unnamed.delete(asset);
  asset.holders.add(session);
  if (bytes !== null && asset.bytes === null) {
    if (bytes.length !== size || hashOf(state, bytes) !== sha256) {
      return `the bytes of asset ${message.asset} are others`;
    }
    keep(state, asset, copied(bytes));
  }
  if (asset.readers.size > 0) fetch(state, asset);
  return null;
}

function hashOf({ options }: RouterState, bytes: Bytes): string {
  const hash = options.newHash();
  hash.update(bytes);
  return hash.digest('hex');
}

function newAsset(state: RouterState, { sha256, size }: AssetMessage): Asset {
  const asset: Asset = {
    number: state.nextAsset,
    sha256,
    size,
    bytes: null,
    fetch: null,
    readers: new Set(),
    holders: new Set(),
    meanMs: null,
  };
  state.nextAsset += 1;
  state.assets.set(sha256, asset);
  return asset;
}

/** The worker is told what this call needs, each asset once on a line. */
export function tellAssets(line: WorkerLine, { asset, shared }: Call): void {
  if (asset !== null) tell(line, asset);
  for (let at = 0; at < shared.length; at += 1) tell(line, shared[at] as Asset);
}

function tell(line: WorkerLine, asset: Asset): void {
  if (line.told.has(asset)) return;
  line.told.add(asset);
  const { number, sha256, size, bytes } = asset;
  const inline = size <= CALL_INLINE_BYTES_MAX ? bytes : null;
  line.peer.send({ kind: 'asset', asset: number, sha256, size, bytes: inline });
}

/** A worker wants the bytes. */
export function read(state: RouterState, reader: Reader): void {
  reader.sink.asked.set(reader.sinkStream, reader);
  reader.asset.readers.add(reader);
  if (reader.asset.bytes === null) fetch(state, reader.asset);
  serve(state, reader);
}

/**
 * Sends as much as the reader has room for, of what is here: what comes from a client goes on at
 * once, and the worker looks whether the whole is what it should be, as the router does.
 */
export function serve(state: RouterState, reader: Reader): void {
  const { asset, sink, sinkStream: stream } = reader;
  const bytes = asset.bytes ?? asset.fetch?.bytes;
  if (bytes === undefined) return;
  const until = Math.min(reader.upTo, asset.fetch?.position ?? asset.size);
  while (reader.position < until) {
    const piece = Math.min(until, reader.position + CALL_PIECE_BYTES_MAX);
    sink.peer.send({ kind: 'body', stream, bytes: bytes.subarray(reader.position, piece) });
    reader.position = piece;
  }
  if (asset.bytes === null || reader.position < asset.size) return;
  sink.asked.delete(stream);
  asset.readers.delete(reader);
  touch(state, asset);
}

/** The latest used goes last: evicted first is what nobody has wanted for longest. */
function touch(state: RouterState, asset: Asset): void {
  if (state.assets.get(asset.sha256) !== asset) return;
  state.assets.delete(asset.sha256);
  state.assets.set(asset.sha256, asset);
}

/** Asks a client for the bytes, when there is one on a line and room for them. */
export function fetch(state: RouterState, asset: Asset): void {
  if (asset.fetch !== null || asset.bytes !== null) return;
  const line = holderOf(asset);
  if (line === null || !makeRoom(state, asset.size)) return;
  const stream = line.next;
  line.next += 1;
  count(state, asset.size);
  const bytes = new Uint8Array(asset.size);
  const hash = state.options.newHash();
  asset.fetch = {
    kind: 'fetch',
    asset,
    source: line,
    sourceStream: stream,
    bytes,
    hash,
    position: 0,
  };
  line.given.set(stream, asset.fetch);
  const id = numberAt(line, asset);
  const upTo = Math.min(asset.size, CALL_STREAM_BYTES_MAX);
  line.peer.send({ kind: 'wanted', of: 'asset', id, stream, from: 0, upTo });
}

function holderOf(asset: Asset): ClientLine | null {
  for (const { line, assets } of asset.holders) {
    if (line !== null && assets.size > 0) return line;
  }
  return null;
}

/** The client's number of it: looked for once a fetch. */
function numberAt(line: ClientLine, asset: Asset): number {
  for (const [number, one] of line.session?.assets ?? []) if (one === asset) return number;
  return 0;
}

function count(state: RouterState, bytes: number): void {
  state.assetBytes += bytes;
  state.options.room?.count(bytes);
}

function makeRoom(state: RouterState, bytes: number): boolean {
  while (state.assetBytes + bytes > CALL_ASSET_BYTES_MAX) if (!evict(state)) return false;
  return state.options.room?.make(bytes) ?? true;
}

/** What was not wanted for longest; false: all that is here is in use. */
export function evict(state: RouterState): boolean {
  for (const asset of state.assets.values()) {
    if (asset.bytes === null || asset.readers.size > 0) continue;
    count(state, -asset.size);
    asset.bytes = null;
    return true;
  }
  return false;
}

function keep(state: RouterState, asset: Asset, bytes: Bytes): void {
  if (!makeRoom(state, bytes.length)) return;
  count(state, bytes.length);
  asset.bytes = bytes;
}

/** Bytes of a fetch; what is wrong with them, if anything. */
export function fetchArrived(state: RouterState, fetched: Fetch, bytes: Bytes): string | null {
  const { asset, source, sourceStream: stream } = fetched;
  if (fetched.position + bytes.length > asset.size) return 'more bytes of an asset than its size';
  fetched.bytes.set(bytes, fetched.position);
  // Piece by piece: all of them at once would keep the head from everything else.
  fetched.hash.update(bytes);
  fetched.position += bytes.length;
  if (fetched.position < asset.size) {
    const upTo = Math.min(asset.size, fetched.position + CALL_STREAM_BYTES_MAX);
    source.peer.send({ kind: 'more', stream, upTo });
    for (const reader of asset.readers) serve(state, reader);
    return null;
  }
  source.given.delete(stream);
  asset.fetch = null;
  if (fetched.hash.digest('hex') !== asset.sha256) {
    count(state, -asset.size);
    return 'the bytes of an asset are others than announced';
  }
  asset.bytes = fetched.bytes;
  for (const reader of [...asset.readers]) serve(state, reader);
  return null;
}

/** The client has it no more, or no line: another one is asked, or the next that announces it. */
export function fetchEnded(state: RouterState, fetched: Fetch, how: 'stopped' | 'line gone'): void {
  const { asset, source } = fetched;
  source.given.delete(fetched.sourceStream);
  if (asset.fetch !== fetched) return;
  asset.fetch = null;
  count(state, -asset.size);
  if (how === 'stopped' && source.session !== null) asset.holders.delete(source.session);
  fetch(state, asset);
  if (asset.holders.size === 0) for (const reader of [...asset.readers]) refuse(reader);
}

function refuse(reader: Reader): void {
  reader.asset.readers.delete(reader);
  reader.sink.asked.delete(reader.sinkStream);
  reader.sink.peer.send({ kind: 'none', stream: reader.sinkStream });
}

/**
 * The client has another line, on which its numbers may name other assets; before it has synced it
 * names all that its open calls need.
 */
export function withdraw(session: Session): void {
  for (const asset of session.assets.values()) {
    asset.holders.delete(session);
    session.unnamed.add(asset);
  }
  session.assets.clear();
}

/** Assets that this session alone had announced, and names no more, go, also from the workers. */
export function dropUnnamed(state: RouterState, session: Session): void {
  if (session.unnamed.size === 0) return;
  const gone: Asset[] = [];
  for (const asset of session.unnamed) {
    if (asset.holders.size > 0) continue;
    gone.push(asset);
    state.assets.delete(asset.sha256);
    if (asset.bytes !== null) count(state, -asset.size);
    for (const reader of [...asset.readers]) refuse(reader);
  }
  session.unnamed.clear();
  for (const line of state.workerLines) {
    const numbers = gone.filter((asset) => line.told.delete(asset)).map(({ number }) => number);
    if (numbers.length > 0) line.peer.send({ kind: 'forget', assets: numbers });
  }
}
