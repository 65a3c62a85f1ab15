// Standard input that a client sends while its job runs: pieces from the head go into a named pipe,
// each acknowledged when the process's pipe has taken it. A slow process thereby slows its client,
// and no node or head holds more than a piece.

import type { EpochId } from '../core/model/ids.ts';
import type { Files, Owner } from '../ports/files.ts';
import type { Log } from '../ports/log.ts';
import type { FeedPipe, Pipes } from '../ports/pipes.ts';
import type { AgentToHead, HeadToAgent } from '../wire/messages.ts';
import { fileNameOf } from './names.ts';

type Piece = Extract<HeadToAgent, { kind: 'stdin' }>;

interface Feed {
  readonly pipe: FeedPipe;
  /** Bytes that were given to the pipe, taken or not. */
  given: number;
  isEnded: boolean;
  /** Settles when the pipe has taken all of them. */
  writing: Promise<void>;
}

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
  /** File names of epochs whose feed broke off when an earlier agent ended. */
  #broken: ReadonlySet<string> = new Set();

  constructor(world: FeedsWorld) {
    this.#world = world;
  }

  /**
   * A pipe that is still there was not fed to its end: its writer, an earlier agent, is gone, and
   * its reader took that for the end of the input.
   */
  findBroken(): void {
    const { files, directory } = this.#world;
    this.#broken = new Set(files.list(directory));
    for (const name of this.#broken) files.removeFile(`${directory}/${name}`);
  }

  isBroken(epochId: EpochId): boolean {
    return this.#broken.has(fileNameOf(epochId));
  }

  pathOf(epochId: EpochId): string {
    return `${this.#world.directory}/${fileNameOf(epochId)}`;
  }

  /** Before the start of its process. */
  async open(epochId: EpochId, owner: Owner | null): Promise<void> {
    const { pipes } = this.#world;
    if (pipes === undefined) throw new Error('this node cannot pass on standard input');
    const pipe = await pipes.make(this.pathOf(epochId), owner);
    const writing = Promise.resolve();
    this.#feeds.set(epochId, { pipe, given: 0, isEnded: false, writing });
  }

  /** A piece that comes again is given once; one beyond a gap is answered with where to go on. */
  take({ epochId, offset, bytes, end }: Piece): void {
    const feed = this.#feeds.get(epochId);
    // A pipe without a reader would lose what it is given.
    if (feed === undefined || !this.#world.isStarted(epochId)) return;
    if (offset <= feed.given && !feed.isEnded) {
      const fresh = bytes.subarray(feed.given - offset);
      feed.given += fresh.length;
      feed.isEnded = end;
      if (fresh.length > 0) feed.writing = feed.writing.then(() => feed.pipe.write(fresh));
      if (end) feed.writing = feed.writing.then(() => this.#finish(epochId, feed));
    }
    const ack = { kind: 'stdin_ack', epochId, offset: feed.given, end: feed.isEnded } as const;
    feed.writing.then(
      () => this.#world.send(ack),
      (error: unknown) => this.#world.log.warn({ epochId, error }, 'input could not be passed on'),
    );
  }

  /** The epoch is over, whatever was read. */
  close(epochId: EpochId): void {
    const feed = this.#feeds.get(epochId);
    if (feed === undefined) return;
    this.#feeds.delete(epochId);
    this.#finish(epochId, feed);
  }

  #finish(epochId: EpochId, feed: Feed): void {
    feed.pipe.close();
    this.#world.files.removeFile(this.pathOf(epochId));
  }
}
