// Standard input that a client sends while its job runs: pieces from the head go into a named pipe
// (or a folder, where the process runs on another machine), each acknowledged when it has taken it.
// A slow process thereby slows its client, and no node or head holds more than a piece.

import type { EpochId } from '../model/ids.ts';
import type { Files, Owner } from '../ports/files.ts';
import type { Log } from '../ports/log.ts';
import type { FeedPipe, Pipes, ResumedPipe } from '../ports/pipes.ts';
import type { AgentToHead, HeadToAgent } from '../wire/messages.ts';
import { fileNameOf } from './names.ts';

type Piece = Extract<HeadToAgent, { kind: 'stdin' }>;

/** Input of one process that was given and not yet taken: beyond this, the client waits. */
export const FEED_BYTES_MAX = 2 * 1_048_576;

interface Feed {
  readonly pipe: FeedPipe;
  /** Bytes that were given to the pipe, taken or not. */
  given: number;
  taken: number;
  isEnded: boolean;
  /** Pieces on their way into the pipe. */
  pieces: number;
  /** Settles when the last of them is through. */
  writing: Promise<void>;
}

type PieceContent = Pick<Piece, 'bytes' | 'end'>;

export interface FeedsWorld {
  /** Absent: no process here can be fed. */
  readonly pipes: Pipes | undefined;
  readonly files: Files;
  readonly log: Log;
  /** Where the pipes are made; users pass through it. */
  readonly directory: string;
  readonly isStarted: (epochId: EpochId) => boolean;
  readonly send: (message: AgentToHead) => boolean;
}

export class Feeds {
  readonly #world: FeedsWorld;
  readonly #feeds = new Map<EpochId, Feed>();
  /** Epochs whose feed broke off when an earlier agent ended, until they are over. */
  readonly #broken = new Set<EpochId>();

  constructor(world: FeedsWorld) {
    this.#world = world;
  }

  /**
   * Takes up the input that an earlier agent was passing on. A folder is gone on with. A pipe was
   * not fed to its end, and its reader took the agent's end for that of the input: it is broken.
   */
  takeUp(epochIds: Iterable<EpochId>): void {
    const { pipes, files, directory } = this.#world;
    const names = new Set(files.list(directory));
    for (const id of epochIds) {
      if (!names.has(fileNameOf(id))) continue;
      const resumed = this.#resume(id);
      if (resumed === null) {
        this.#broken.add(id);
        continue;
      }
      this.#feeds.set(id, feedOf(resumed));
      names.delete(fileNameOf(id));
    }
    for (const name of names) this.#tidy(() => pipes?.remove(`${directory}/${name}`));
  }

  /** Null also where it is not as this release makes it. */
  #resume(epochId: EpochId): ResumedPipe | null {
    try {
      return this.#world.pipes?.resume(this.pathOf(epochId)) ?? null;
    } catch (error) {
      this.#world.log.warn({ epochId, error }, 'standard input of a task cannot be gone on with');
      return null;
    }
  }

  #tidy(remove: () => void): void {
    try {
      remove();
    } catch (error) {
      this.#world.log.warn({ error }, 'standard input of a task that is over cannot be removed');
    }
  }

  isBroken(epochId: EpochId): boolean {
    return this.#broken.has(epochId);
  }

  pathOf(epochId: EpochId): string {
    return `${this.#world.directory}/${fileNameOf(epochId)}`;
  }

  /** Before the start of its process. */
  async open(epochId: EpochId, owner: Owner | null): Promise<void> {
    const { pipes } = this.#world;
    if (pipes === undefined) throw new Error('this node cannot pass standard input to a task');
    const pipe = await pipes.make(this.pathOf(epochId), owner);
    this.#feeds.set(epochId, feedOf({ pipe, bytes: 0, isEnded: false }));
  }

  /**
   * A piece that comes again is given once; one beyond a gap is answered with where to go on. One
   * that is too much for a process that does not read gets no answer: it is sent again.
   */
  take({ epochId, offset, bytes, end }: Piece): void {
    const feed = this.#feeds.get(epochId);
    // A pipe without a reader would lose what it is given.
    if (feed === undefined || !this.#world.isStarted(epochId)) return;
    if (offset <= feed.given && !feed.isEnded) {
      const fresh = bytes.subarray(feed.given - offset);
      const waiting = feed.given - feed.taken;
      if (waiting > 0 && waiting + fresh.length > FEED_BYTES_MAX) return;
      if (fresh.length > 0 || end) this.#give(epochId, feed, { bytes: fresh, end });
    }
    // What is being written is acknowledged when the pipe has it, however often it was sent.
    if (feed.pieces === 0) this.#acknowledge(epochId, feed);
  }

  /** The epoch is over, whatever was read. */
  close(epochId: EpochId): void {
    this.#broken.delete(epochId);
    const feed = this.#feeds.get(epochId);
    if (feed === undefined) return;
    this.#feeds.delete(epochId);
    this.#tidy(() => feed.pipe.remove());
  }

  #give(epochId: EpochId, feed: Feed, { bytes, end }: PieceContent): void {
    feed.given += bytes.length;
    feed.isEnded = end;
    feed.pieces += 1;
    feed.writing = feed.writing.then(() => this.#write(epochId, feed, { bytes, end }));
  }

  async #write(epochId: EpochId, feed: Feed, { bytes, end }: PieceContent): Promise<void> {
    // It is over, or what came before this could not be written: another has taken its place.
    if (this.#feeds.get(epochId) !== feed) return;
    try {
      if (bytes.length > 0) await feed.pipe.write(bytes);
      if (end) await feed.pipe.end();
    } catch (error) {
      this.#onFailure(epochId, feed, error);
      return;
    }
    feed.taken += bytes.length;
    feed.pieces -= 1;
    this.#acknowledge(epochId, feed);
  }

  /** No answer for what was not written: its sender sends it again. */
  #onFailure(epochId: EpochId, feed: Feed, error: unknown): void {
    // A process that ends may leave input unread: that is no failure.
    if (this.#feeds.get(epochId) !== feed) return;
    this.#world.log.warn({ epochId, error }, 'standard input could not be passed to a task');
    this.#feeds.set(epochId, feedOf({ pipe: feed.pipe, bytes: feed.taken, isEnded: false }));
  }

  #acknowledge(epochId: EpochId, { taken, pieces, isEnded }: Feed): void {
    const end = isEnded && pieces === 0;
    this.#world.send({ kind: 'stdin_ack', epochId, offset: taken, end });
  }
}

function feedOf({ pipe, bytes, isEnded }: ResumedPipe): Feed {
  const writing = Promise.resolve();
  return { pipe, given: bytes, taken: bytes, isEnded, pieces: 0, writing };
}
