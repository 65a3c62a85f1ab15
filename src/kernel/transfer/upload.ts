// Sends the contents of files that the head lacks, each from where the last connection ended.

import { CODING_HEADER, CODINGS, compressed, pays, SAMPLE_BYTES } from '../api/coding.ts';
import type { ByteBody } from '../api/exchange.ts';
import { Failure, usage } from '../model/failure.ts';
import { BLOB_PACKED_BYTES_MAX, BLOBS_ASKED_MAX } from '../model/limits.ts';
import type { HeadAccess } from './head-access.ts';
import { inParallel } from './in-parallel.ts';
import { type LocalFile, type OpenContent, openLocalFile } from './local-file.ts';
import { bytesOfPack, packed, sampleOfPack } from './pack.ts';
import { type StuckWatch, unlessStuck } from './stuck.ts';

/** Lines have their limits, disks as well: more at once would not be faster. */
const AT_ONCE = 4;
const PACKS_AT_ONCE = 2;
const BLOCK_BYTES = 256 * 1024;
/** Beside a connection that is not yet over, a new one may be told again where to begin. */
const TURNS_MAX = 10;
const FIRST_PAUSE_MS = 100;
const PAUSE_MAX_MS = 5000;

export interface Sent {
  /** Contents that had to be sent; the others were there. */
  readonly count: number;
  readonly bytes: number;
}

interface LackingFile {
  readonly file: LocalFile;
  /** What it does not have of it. */
  readonly leftBytes: number;
}

/** What the head does not have of these, each content once. */
export async function lackingFiles(
  access: HeadAccess,
  files: readonly LocalFile[],
): Promise<readonly LackingFile[]> {
  return (await lackingOf(access, files)).lacking;
}

async function lackingOf(access: HeadAccess, files: readonly LocalFile[]) {
  const byHash = new Map(files.map((file) => [file.hash as string, file]));
  const { lacking, reads } = await askLacking(access, [...byHash.keys()]);
  const left = lacking.map(({ hash, offset }): LackingFile => {
    const file = byHash.get(hash) as LocalFile;
    return { file, leftBytes: file.size - offset };
  });
  return { lacking: left, reads };
}

/**
 * Resolves when the head has all of them, verified. `moved`: so many bytes more have gone out.
 * `begun`: so many it lacks.
 */
export async function uploadFiles(
  access: HeadAccess,
  files: readonly LocalFile[],
  moved: (bytes: number) => void = () => undefined,
  begun: (bytes: number) => void = () => undefined,
): Promise<Sent> {
  const { lacking, reads } = await lackingOf(access, files);
  begun(lacking.reduce((sum, { leftBytes }) => sum + leftBytes, 0));
  const toSend = lacking.map(({ file }) => file);
  const isSmall = ({ size }: LocalFile): boolean => size <= BLOB_PACKED_BYTES_MAX;
  const packs = packed(toSend.filter(isSmall));
  await inParallel(packs, PACKS_AT_ONCE, (pack) => sendPack(access, pack, { reads, moved }));
  const large = toSend.filter((file) => !isSmall(file));
  await inParallel(large, AT_ONCE, (file) => sendFile(access, file, moved));
  return { count: toSend.length, bytes: toSend.reduce((sum, { size }) => sum + size, 0) };
}

/** Goes on with what the head lacks for as long as that becomes less. */
async function sendPack(
  access: HeadAccess,
  pack: readonly LocalFile[],
  { reads, moved }: { readonly reads: readonly string[]; readonly moved: (bytes: number) => void },
): Promise<void> {
  const api = await access.head();
  const note = 'Going on with small files as soon as it can.';
  let state = { left: pack, reads };
  let isAgain = false;
  const attempt = async (): Promise<void> => {
    // It may be another head by now, which reads other bodies.
    if (isAgain) state = await stillLacking(access, state.left);
    isAgain = true;
    const { left } = state;
    if (left.length === 0) return;
    await unlessStuck(api.address, async (watch) => {
      const plain = bytesOfPack(left, watch, moved);
      const body = await codedBody(plain, state.reads, () => sampleOfPack(left));
      await api.call('sendBlobs', { ...body, signal: watch.signal, timeoutMs: 0 });
    });
  };
  for (;;) {
    const before = state.left.length;
    try {
      return await access.patiently(note, attempt);
    } catch (error) {
      const isAway = error instanceof Failure && error.kind === 'unavailable';
      if (!isAway || state.left.length === before) throw error;
    }
  }
}

async function stillLacking(access: HeadAccess, files: readonly LocalFile[]) {
  const asked = files.map(({ hash }) => hash);
  const { lacking, reads } = await askLacking(access, asked);
  const hashes = new Set(lacking.map(({ hash }) => hash));
  return { left: files.filter(({ hash }) => hashes.has(hash)), reads };
}

async function askLacking(access: HeadAccess, hashes: readonly string[]) {
  const api = await access.head();
  const note = 'Trying again.';
  const lacking: { readonly hash: string; readonly offset: number }[] = [];
  let reads: readonly string[] = [];
  for (let at = 0; at < hashes.length; at += BLOBS_ASKED_MAX) {
    const body = { hashes: hashes.slice(at, at + BLOBS_ASKED_MAX) };
    const reply = await access.patiently(note, () => api.call('lackingBlobs', { body }));
    lacking.push(...reply.lacking);
    reads = reply.reads ?? [];
  }
  return { lacking, reads };
}

/**
 * Patience is for a head that is away, not for how long a file takes: what moves goes on, also
 * where another sender moves it.
 */
async function sendFile(
  access: HeadAccess,
  file: LocalFile,
  moved: (bytes: number) => void,
): Promise<void> {
  const note = `Going on with ${file.path} as soon as it can.`;
  let stood = 0;
  let reached = 0;
  let pauseMs = FIRST_PAUSE_MS;
  for (;;) {
    let bytes = 0;
    let from = reached;
    const attempt = () =>
      sendRest(access, file, {
        begun: (offset) => {
          from = offset;
        },
        moved: (more) => {
          bytes += more;
          moved(more);
        },
      });
    try {
      if (await access.patiently(note, attempt)) return;
      await access.pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS);
    } catch (error) {
      if (bytes === 0 || !(error instanceof Failure) || error.kind !== 'unavailable') throw error;
    }
    stood = bytes > 0 || from > reached ? 0 : stood + 1;
    reached = from;
    if (stood > TURNS_MAX) throw usage(`${file.path} is sent by another command at the same time`);
  }
}

/** One connection's worth. False: not all of it is there; ask again where to go on. */
async function sendRest(
  access: HeadAccess,
  file: LocalFile,
  { begun, moved }: { begun: (offset: number) => void; moved: (bytes: number) => void },
): Promise<boolean> {
  const api = await access.head();
  const {
    lacking: [lacking],
    reads,
  } = await askLacking(access, [file.hash]);
  if (lacking === undefined) return true;
  const { offset } = lacking;
  begun(offset);
  const content = openLocalFile(file);
  try {
    const reading = { file, content, offset, moved };
    const reply = await unlessStuck(api.address, async (watch) =>
      api.call('sendBlob', {
        params: { hash: file.hash },
        query: { offset, size: file.size },
        ...(await codedBody(bytesOf(reading, watch), reads, () => sampleOf(reading))),
        signal: watch.signal,
        timeoutMs: 0,
      }),
    );
    return reply.held;
  } catch (error) {
    const code = error instanceof Failure ? error.code : '';
    if (code === 'blob.offset' || code === 'blob.taken_over') return false;
    if (code !== 'blob.hash_mismatch') throw error;
    openLocalFile(file).close();
    // The file is as it was: what an earlier connection has left there was not.
    if (offset > 0) return false;
    throw error;
  } finally {
    content.close();
  }
}

interface Reading {
  readonly file: LocalFile;
  readonly content: OpenContent;
  readonly offset: number;
  readonly moved: (bytes: number) => void;
}

function bytesOf(reading: Reading, watch: StuckWatch): ByteBody {
  const { file, offset } = reading;
  return {
    length: file.size - offset,
    open: () => watch.stream(read(reading, freshBlocks)),
    pieces: () => watch.seen(read(reading, twoBlocks())),
  };
}

/** What comes next of it, to see whether compressing it pays. */
async function sampleOf({ content, offset }: Reading): Promise<Uint8Array> {
  const sample = Buffer.alloc(SAMPLE_BYTES);
  return sample.subarray(0, await content.read(sample, sample.length, offset));
}

/** Where the next piece is read to. */
type Blocks = () => Uint8Array;

const freshBlocks: Blocks = () => Buffer.allocUnsafe(BLOCK_BYTES);

/** One is read while the other is sent. */
function twoBlocks(): Blocks {
  let [next, other] = [freshBlocks(), freshBlocks()];
  return () => {
    [next, other] = [other, next];
    return other;
  };
}

/** The next piece is read while the last one is sent. */
async function* read({ file, content, offset, moved }: Reading, blocks: Blocks) {
  const readFrom = async (at: number): Promise<Uint8Array> => {
    const block = blocks();
    const length = Math.min(block.length, file.size - at);
    return block.subarray(0, await content.read(block, length, at));
  };
  let at = offset;
  let coming = readFrom(at);
  while (at < file.size) {
    const piece = await coming;
    // Sent on, a request that ends too early would wait for its rest for ever.
    if (piece.length === 0) throw usage(`${file.path} became shorter while it was sent`);
    at += piece.length;
    coming = readFrom(at);
    // Told when its turn comes: whoever sends may have stopped before, and closed the file.
    coming.catch(() => undefined);
    yield piece;
    moved(piece.length);
  }
}

// What is sent, compressed where the head reads that and a sample says that it pays.

interface SentBody {
  readonly bytes: ByteBody;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `reads`: how the head, as it said last, takes bodies from here. */
async function codedBody(
  bytes: ByteBody,
  reads: readonly string[],
  sample: () => Promise<Uint8Array> | Uint8Array,
): Promise<SentBody> {
  const coding = CODINGS.find((known) => reads.includes(known));
  if (coding === undefined || !pays(await sample())) return { bytes };
  return {
    bytes: { length: null, open: () => compressed(bytes.open()) },
    headers: { [CODING_HEADER]: coding },
  };
}
