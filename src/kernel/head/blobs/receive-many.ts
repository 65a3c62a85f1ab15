// Many small contents that come together: written aside, got to the disk all at once, and only then
// kept.

import { hash as hashOf } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { BlobFrame } from '../../api/blob-frames.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { diskBytes } from '../../files/blobs/upload.ts';
import type { BlobHash } from '../../model/blob.ts';
import { type Refusal, refuse } from '../../model/errors.ts';
import { isFull } from '../disk/disk-errors.ts';
import type { DiskSync } from '../disk/disk-sync.ts';
import type { SmallContent } from '../packs/pack-format.ts';
import type { Arrived, Contents } from './contents.ts';

/** Files written in one turn: a few milliseconds. */
const WRITTEN_PER_TURN = 16;
/** Contents that wait for the disk together, and bytes of those that go into a pack. */
const TOGETHER_MAX = 2000;
const PACKED_BYTES_MAX = 4 * 1_048_576;

/** Without a hash: whatever its bytes say. */
type SentContent = Pick<BlobFrame, 'bytes'> & Partial<BlobFrame>;
export type SentContents = AsyncIterable<SentContent> | Iterable<SentContent>;

export interface Taking {
  readonly contents: Contents;
  readonly disk: DiskSync;
  /** Null when so many bytes that have come fit. */
  readonly takeRoom: (bytes: number) => Promise<Refusal | null>;
}

/** How many are kept. What is whole is kept, also when a later one is not. */
export async function receiveMany(
  user: string,
  frames: SentContents,
  taking: Taking,
): Promise<Result<number, Refusal>> {
  const intake = new Intake(user, taking);
  const came = await intake.takeAll(frames).catch((error: unknown) => ({ error }));
  const refusal = await intake.keep();
  if (came !== null && 'error' in came) throw came.error;
  const first = came ?? refusal;
  return first === null ? ok(intake.count) : err(first);
}

class Intake {
  readonly #user: string;
  readonly #taking: Taking;
  #arrived: Arrived[] = [];
  /** Kept, with names that may not be on the disk yet. */
  #named: BlobHash[] = [];
  /** What goes into a pack. */
  #small: SmallContent[] = [];
  #smallBytes = 0;
  #bytes = 0;
  count = 0;

  constructor(user: string, taking: Taking) {
    this.#user = user;
    this.#taking = taking;
  }

  async takeAll(frames: SentContents): Promise<Refusal | null> {
    for await (const frame of frames) {
      const refusal = await this.#take(frame);
      if (refusal !== null) return refusal;
    }
    return null;
  }

  async #take({ hash: named, bytes }: SentContent): Promise<Refusal | null> {
    const { contents, takeRoom } = this.#taking;
    const actual = hashOf('sha256', bytes, 'hex');
    const hash = (named ?? actual) as BlobHash;
    if (actual !== hash) return refuse('blob.hash_mismatch', { hash, actual });
    if (contents.hold(this.#user, hash)) {
      this.#named.push(hash);
      return null;
    }
    const more = diskBytes(bytes.length);
    const refusal = await takeRoom(this.#bytes + more);
    if (refusal !== null) return refusal;
    if (contents.isPacked(bytes)) return this.#pack({ hash, bytes }, more);
    try {
      this.#arrived.push(contents.write(this.#user, hash, bytes));
    } catch (error) {
      return refusalOf(error);
    }
    this.#bytes += more;
    if (this.#arrived.length >= TOGETHER_MAX) return this.keep();
    if (this.#arrived.length % WRITTEN_PER_TURN === 0) await new Promise(setImmediate);
    return null;
  }

  async #pack(content: SmallContent, more: number): Promise<Refusal | null> {
    this.#small.push(content);
    this.#smallBytes += content.bytes.length;
    this.#bytes += more;
    const isMuch = this.#small.length >= TOGETHER_MAX || this.#smallBytes >= PACKED_BYTES_MAX;
    return isMuch ? this.keep() : null;
  }

  /** What has come is on the disk, and seen by all, when it resolves. */
  async keep(): Promise<Refusal | null> {
    const { contents, disk } = this.#taking;
    const [arrived, small] = [this.#arrived, this.#small];
    [this.#arrived, this.#small] = [[], []];
    [this.#bytes, this.#smallBytes] = [0, 0];
    try {
      await contents.pack(this.#user, small);
      this.count += small.length;
      await disk.settle(arrived.map(({ path }) => path));
    } catch (error) {
      for (const { path } of arrived) rmSync(path, { force: true });
      return refusalOf(error);
    }
    for (const one of arrived) contents.keep(one);
    const named = [...this.#named, ...arrived.map(({ hash }) => hash)];
    this.#named = [];
    await disk.settle(contents.foldersOf(named));
    this.count += named.length;
    return null;
  }
}

/** Throws what is no lack of room. */
function refusalOf(error: unknown): Refusal {
  if (!isFull(error)) throw error;
  return refuse('blob.disk_full', { cause: (error as Error).message });
}
