// File contents: who lacks which, taking them in pieces, and reading them in ranges.

import { pipeline } from 'node:stream/promises';
import { frameHeader, readFrames } from '../../../api/blob-frames.ts';
import { BLOB_HEADERS } from '../../../api/blobs.ts';
import { SAMPLE_BYTES } from '../../../api/coding.ts';
import { present } from '../../../base/assert.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { UserActor } from '../../../model/actor.ts';
import type { BlobHash } from '../../../model/blob.ts';
import { formatRefusal, kindOf, type Refusal, refuse } from '../../../model/errors.ts';
import { BLOB_PACKED_BYTES_MAX, BLOB_STALL_BYTES, BLOB_STALL_MS } from '../../../model/limits.ts';
import type { BlobReader, BlobStore } from '../../blobs/blob-store.ts';
import type { OpenBlob } from '../../blobs/contents.ts';
import type { Engine } from '../../engine.ts';
import type { EpochCaller } from '../../epoch-caller.ts';
import type { JobFiles } from '../../files/job-files.ts';
import { readRange } from '../byte-range.ts';
import { readBytes } from '../byte-source.ts';
import type { Handler } from '../call.ts';
import { coded, codingHeaders, codingOf, codingsFor, plainBody } from '../coding.ts';

/** Small contents go out together, up to so many bytes and pieces: read in a millisecond or two. */
const PIECE_BYTES = 64 * 1024;
const PIECES_MAX = 128;
const PACE = { stallMs: BLOB_STALL_MS, bytesMin: BLOB_STALL_BYTES };

interface Caller {
  readonly actor: UserActor | null;
  readonly epoch: EpochCaller | null;
}

/** Whose contents: a node acts for the owner of its task. */
function userOf({ actor, epoch }: Caller): string {
  return present(actor?.name ?? epoch?.owner, 'who asks');
}

/** A node reads what its task's job needs, and nothing else of the owner's. */
async function readerOf(jobFiles: JobFiles, call: Caller): Promise<BlobReader> {
  const { epoch } = call;
  if (epoch === null) return { user: userOf(call), by: null };
  return { user: epoch.owner, by: (await jobFiles.namingOf(epoch.jobId)) ?? 'nothing' };
}

/** Shows at the task what its transfer waits for, until some bytes come through. */
export function noteRoom(
  { state }: Pick<Engine, 'state'>,
  epoch: EpochCaller | null,
  received: Result<unknown, Refusal>,
): void {
  if (epoch === null) return;
  const { keepingTrouble } = state.scratch;
  if (received.ok) keepingTrouble.delete(epoch.epochId);
  else if (kindOf(received.error.code) === 'resource_exhausted') {
    keepingTrouble.set(epoch.epochId, formatRefusal(received.error));
  }
}

export const lackingBlobs: Handler<'lackingBlobs'> = async ({ blobs }, call) => {
  const hashes = call.body.hashes as BlobHash[];
  const lacking = await blobs.lacking(userOf(call), hashes);
  const reads = [...codingsFor(call)];
  return ok(reads.length === 0 ? { lacking } : { lacking, reads });
};

export const checkBlob: Handler<'checkBlob'> = ({ blobs }, call) => {
  const { params, response } = call;
  const { offset, isHeld } = blobs.progress(userOf(call), params.hash as BlobHash);
  response.writeHead(200, {
    'cache-control': 'no-store',
    [BLOB_HEADERS.offset]: offset,
    [BLOB_HEADERS.held]: String(isHeld),
  });
  response.end();
  return ok(null);
};

export const sendBlob: Handler<'sendBlob'> = async ({ blobs, clock, engine }, call) => {
  const { params, query, incoming } = call;
  // What counts as bringing something is what came: a few bytes may stand for many.
  const source = plainBody(call, readBytes(incoming, clock, PACE));
  if (!source.ok) return source;
  const piece = { ...query, isOutput: call.epoch !== null };
  const received = await blobs.receive(userOf(call), params.hash as BlobHash, piece, source.value);
  noteRoom(engine, call.epoch, received);
  if (!received.ok) return received;
  const { offset, isHeld } = received.value;
  return ok({ offset, held: isHeld });
};

export const sendBlobs: Handler<'sendBlobs'> = async ({ blobs, clock, engine }, call) => {
  const source = plainBody(call, readBytes(call.incoming, clock, PACE));
  if (!source.ok) return source;
  const wrong: string[] = [];
  const frames = untilWrong(source.value, wrong);
  const received = await blobs.receiveMany(userOf(call), frames, call.epoch !== null);
  noteRoom(engine, call.epoch, received);
  if (!received.ok) return received;
  const [what] = wrong;
  return what === undefined
    ? ok({ count: received.value })
    : err(refuse('argument.invalid', { what }));
};

/** What came before the flaw is kept. */
async function* untilWrong(source: AsyncIterable<Uint8Array>, wrong: string[]) {
  try {
    yield* readFrames(source);
  } catch (error) {
    wrong.push((error as Error).message);
  }
}

export const readBlobs: Handler<'readBlobs'> = async ({ blobs, jobFiles }, call) => {
  const { body, response, signal } = call;
  const reader = await readerOf(jobFiles, call);
  const hashes = body.hashes as BlobHash[];
  let bytes = 0;
  for (const hash of hashes) {
    const size = blobs.mayRead(reader, hash) ? blobs.sizeOf(hash) : null;
    if (size === null) return err(refuse('blob.not_found', { hash }));
    bytes += size;
    if (size > BLOB_PACKED_BYTES_MAX) {
      const what = `${hash} has ${size} bytes; read it by itself`;
      return err(refuse('argument.invalid', { what }));
    }
  }
  const headers = { 'content-type': 'application/octet-stream' };
  if (bytes < PIECE_BYTES && 2 * hashes.length <= PIECES_MAX) {
    const pieces = hashes.flatMap((hash) => piecesOf(blobs, hash));
    // With its length, or another write would say that this is all.
    const whole = Buffer.concat(pieces);
    response.writeHead(200, { ...headers, 'content-length': whole.length }).end(whole);
    return ok(null);
  }
  const coding = await codingOf(call, () => sampleOf(blobs, hashes));
  response.writeHead(200, { ...headers, ...codingHeaders(coding) });
  // One that goes meanwhile, and a reader that does: the cut tells that it is not complete.
  const sent = coded(coding, frames(blobs, hashes));
  await pipeline(sent, response, { signal }).catch(() => undefined);
  return ok(null);
};

/** What an answer of many begins with. */
function sampleOf(blobs: BlobStore, hashes: readonly BlobHash[]): Uint8Array {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (const hash of hashes) {
    const bytes = blobs.readSmall(hash) ?? new Uint8Array();
    pieces.push(bytes);
    length += bytes.length;
    if (length >= SAMPLE_BYTES) break;
  }
  return Buffer.concat(pieces);
}

async function* frames(blobs: BlobStore, hashes: readonly BlobHash[]): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for (const hash of hashes) {
    const [header, bytes] = piecesOf(blobs, hash);
    pieces.push(header, bytes);
    length += bytes.length;
    if (length < PIECE_BYTES && pieces.length < PIECES_MAX) continue;
    yield Buffer.concat(pieces);
    [pieces, length] = [[], 0];
    await new Promise(setImmediate);
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

/** Throws when it has gone since it was looked at. */
function piecesOf(blobs: BlobStore, hash: BlobHash): [Uint8Array, Uint8Array] {
  const bytes = blobs.readSmall(hash);
  if (bytes === null) throw new Error(`${hash} is gone`);
  return [frameHeader(hash, bytes.length), bytes];
}

/** What a part of a content begins with. */
async function firstOf(blob: OpenBlob, from: number, end: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  if (end === from) return new Uint8Array();
  for await (const piece of blob.stream(from, Math.min(from + SAMPLE_BYTES, end))) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** Over the unix socket only: elsewhere the paths say nothing, and are nobody's business. */
export const blobFiles: Handler<'blobFiles'> = async ({ blobs, jobFiles }, call) => {
  if (call.epoch === null || !call.local) return ok({ files: [] });
  const reader = await readerOf(jobFiles, call);
  return ok({ files: await blobs.files(reader, call.body.hashes as BlobHash[]) });
};

export const readBlob: Handler<'readBlob'> = async ({ blobs, jobFiles }, call) => {
  const { response, incoming, signal } = call;
  const hash = call.params.hash as BlobHash;
  const reader = await readerOf(jobFiles, call);
  // Whether others have it is nobody's business: the answer is the same.
  if (!blobs.mayRead(reader, hash)) return err(refuse('blob.not_found', { hash }));
  const opened = await blobs.open(hash);
  if (!opened.ok) return opened;
  const blob = opened.value;
  const { size } = blob;
  try {
    const range = readRange(incoming.headers.range, size);
    if (range.kind === 'outside') {
      const what = `header Range: the content has ${size} bytes`;
      return err(refuse('argument.invalid', { what }));
    }
    const { from, end } = range.kind === 'part' ? range : { from: 0, end: size };
    const coding = await codingOf(call, () => firstOf(blob, from, end));
    response.writeHead(range.kind === 'part' ? 206 : 200, {
      'content-type': 'application/octet-stream',
      ...(coding === null ? { 'content-length': end - from } : codingHeaders(coding)),
      'accept-ranges': 'bytes',
      etag: `"${hash}"`,
      ...(range.kind === 'part' ? { 'content-range': `bytes ${from}-${end - 1}/${size}` } : {}),
    });
    if (end === from) response.end();
    else {
      // The reader that goes, or a head that stops: the cut tells that it is not complete.
      const bytes = coded(coding, blob.stream(from, end));
      await pipeline(bytes, response, { signal }).catch(() => undefined);
    }
    return ok(null);
  } finally {
    await blob.close();
  }
};
