// Captured output on the head: pieces from agents are appended, readers get ranges. A piece is
// acknowledged after it was written; what arrives twice is written once. Small output of an array's
// task lies in the segment of its job, other output in a file of its own.

import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { formatSize } from '../../base/size.ts';
import type { Log } from '../../ports/log.ts';
import type { LogName } from '../../wire/messages.ts';
import type { Kept } from '../log-sink.ts';
import { linkLog } from './link-log.ts';
import { LogBudget } from './log-budget.ts';
import { appendTo, openExisting, sizeOf, writeSmall } from './log-disk.ts';
import type { LogJobs } from './log-jobs.ts';
import { type LogPlace, logPath, readLogName } from './log-path.ts';
import { hasMark, isMarked, mark, unmark } from './open-mark.ts';
import { SEGMENT, Segments } from './segments/segments.ts';
import { type SmallFile, SmallOutputs } from './segments/small-outputs.ts';
import { SilentEnds } from './silent-ends.ts';

export interface LogFilesOptions {
  /** Made when it is not there. */
  readonly directory: string;
  /** Bytes of one file. What is beyond is counted, not kept. */
  readonly fileBytesMax: number;
  /** Bytes of all files; beyond that output of done jobs goes. */
  readonly totalBytesMax: number;
  readonly jobs: LogJobs;
  readonly log: Log;
}

export interface LogPiece {
  readonly offset: number;
  readonly bytes: Uint8Array;
  readonly end: boolean;
  readonly dropped: number;
  /** What follows after the bytes that are left out. */
  readonly tail?: Uint8Array;
}

/** What the head knows of a file. */
export interface LogStatus {
  readonly size: number;
  /** Bytes left out, by the agent or here. */
  readonly dropped: number;
  /** The agent said that nothing more will come. Forgotten when the head restarts. */
  readonly ended: boolean;
  /** Some of it came, and its end is still to come, as far as anybody knows. */
  readonly isOpen: boolean;
  /** When the last of it came, ms since 1970, if that was to this head. */
  readonly movedAt: number;
}

interface LogFile extends SmallFile {
  /** Size of what is kept of the end, with the words about the cut before it. */
  tailSize: number;
  dropped: number;
  isMarked: boolean;
  /** Pieces of one file are written one after the other. */
  work: Promise<unknown>;
  pending: number;
}

/** Size of the file that ends with this piece. */
function wholeSize(piece: LogPiece): number {
  return piece.offset + piece.bytes.length + piece.dropped;
}

/** Files whose status is kept in memory; those of a few thousand running tasks and a reserve. */
const KNOWN_MAX = 50_000;
const STREAMS = ['stdout', 'stderr'] as const;
const NOTHING: LogStatus = { size: 0, dropped: 0, ended: false, isOpen: false, movedAt: 0 };

export class LogFiles {
  readonly #options: LogFilesOptions;
  readonly #files = new Map<string, LogFile>();
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #budget: LogBudget;
  readonly #segments: Segments;
  readonly #small: SmallOutputs;
  readonly #silent = new SilentEnds();
  #openedAt = 0;

  constructor(options: LogFilesOptions) {
    this.#options = options;
    const { directory, fileBytesMax, totalBytesMax, jobs, log } = options;
    const onRemove = (relative: string): void => this.#forget(relative);
    this.#budget = new LogBudget({ directory, bytesMax: totalBytesMax, jobs, onRemove, log });
    const segments = new Segments(directory, log);
    this.#segments = segments;
    this.#small = new SmallOutputs({ directory, fileBytesMax, segments, budget: this.#budget });
  }

  /** Reads how much earlier heads kept. Looks at no file of output. */
  async prepare(): Promise<void> {
    await mkdir(this.#options.directory, { recursive: true, mode: 0o700 });
    await this.#budget.prepare();
    this.#openedAt = Date.now();
  }

  /** To be called when the head serves; what has to be removed is removed from here on. */
  begin(): void {
    this.#budget.begin();
  }

  /** Leaves for the next head how much is kept. */
  close(): Promise<void> {
    return this.#budget.close();
  }

  /** The largest job id that has, or had, output; rounded up to its bucket's end. */
  jobIdSeen(): Promise<number> {
    return this.#budget.jobIdSeen();
  }

  /** Whether the job's output was removed to make room. */
  wasRemoved(jobId: number): Promise<boolean> {
    return this.#budget.wasRemoved(jobId);
  }

  /** Resolves with how far the head has the file, once it is written. */
  append(name: LogName, piece: LogPiece): Promise<Kept> {
    const log = readLogName(name);
    if (!log.ok) return Promise.reject(new Error(log.error));
    const relative = logPath(log.value);
    const file = this.#fileAt(relative);
    file.pending += 1;
    const work = file.work.then(() => this.#keep(log.value, file, piece));
    // A failure is the asker's; the next piece of the file is tried anyway.
    file.work = work.then(
      () => this.#done(relative, file),
      () => this.#done(relative, file),
    );
    return work;
  }

  /**
   * Both outputs of the process are over, and are nothing. False where something is known of one of
   * them, or of a place that cannot be remembered so: then pieces say it.
   */
  endSilently(process: Omit<LogName, 'stream'>): boolean {
    const log = readLogName({ ...process, stream: 'stdout' });
    if (!log.ok) return false;
    const isWatched = this.#files.size > 0 || this.#watchers.size > 0;
    const paths = isWatched ? STREAMS.map((stream) => logPath({ ...log.value, stream })) : [];
    if (paths.some((relative) => this.#files.has(relative))) return false;
    if (!this.#silent.add(log.value)) return false;
    for (const relative of paths) this.#tellWatchers(relative);
    return true;
  }

  /** Whether it is known to be over, and to be nothing: without a look at the disk. */
  isSilent(log: LogPlace): boolean {
    const file = this.#files.get(logPath(log));
    if (file === undefined) return this.#silent.has(log);
    if (file.pending > 0) return false;
    return file.ended && file.size === 0 && file.tailSize === 0 && file.dropped === 0;
  }

  async status(log: LogPlace): Promise<LogStatus> {
    const relative = logPath(log);
    const known = this.#files.get(relative);
    if (known === undefined && this.#silent.has(log)) return { ...NOTHING, ended: true };
    await known?.work;
    if (known === undefined || known.size < 0) return this.#statusOnDisk(log);
    const size = known.size + known.tailSize;
    const { dropped, ended, movedAt } = known;
    return { size, dropped, ended, isOpen: !ended && size > 0, movedAt };
  }

  async #statusOnDisk(log: LogPlace): Promise<LogStatus> {
    const small = await this.#small.find(log);
    if (small !== null) return { ...NOTHING, size: small.length, ended: true };
    const relative = logPath(log);
    const file = path.join(this.#options.directory, relative);
    const size = await sizeOf(file);
    if (size === null) return NOTHING;
    const isOpen = await hasMark(file, size);
    return {
      size: size + (await this.#tailSize(relative)),
      dropped: await this.#dropped(relative),
      ended: false,
      isOpen,
      // Its node may not have come back to this head yet.
      movedAt: isOpen ? this.#openedAt : 0,
    };
  }

  /** Up to `length` bytes from `offset`; empty at the end of what is there. */
  async read(log: LogPlace, offset: number, length: number): Promise<Uint8Array> {
    const small = await this.#small.find(log);
    if (small !== null) return (await small.read()).subarray(offset, offset + length);
    const handle = await openExisting(path.join(this.#options.directory, logPath(log)));
    if (handle === null) return new Uint8Array();
    try {
      const buffer = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(buffer, 0, length, offset);
      if (bytesRead > 0) return buffer.subarray(0, bytesRead);
      return await this.#readTail(logPath(log), offset - (await handle.stat()).size, buffer);
    } finally {
      await handle.close();
    }
  }

  /** Gives the output one more name elsewhere, under which it goes on. */
  linkTo(log: LogPlace, to: string): Promise<void> {
    const file = this.#fileAt(logPath(log));
    file.pending += 1;
    const work = file.work.then(() => this.#link(log, file, to));
    file.work = work.then(
      () => this.#done(logPath(log), file),
      () => this.#done(logPath(log), file),
    );
    return work;
  }

  async #link(log: LogPlace, known: LogFile, to: string): Promise<void> {
    const small = await this.#small.find(log);
    if (small !== null) return writeFile(to, await small.read(), { mode: 0o600, flag: 'wx' });
    await this.#small.keepFile(log, known);
    const file = path.join(this.#options.directory, logPath(log));
    await linkLog(file, tailOf(file), to);
  }

  /** Calls back after each change of the file, until the returned function is called. */
  watch(log: LogPlace, changed: () => void): () => void {
    const relative = logPath(log);
    const watchers = this.#watchers.get(relative) ?? new Set();
    this.#watchers.set(relative, watchers.add(changed));
    return () => {
      watchers.delete(changed);
      if (watchers.size === 0) this.#watchers.delete(relative);
    };
  }

  /** In the job's segment what is small and whole, everything else in a file. */
  async #keep(log: LogPlace, file: LogFile, piece: LogPiece): Promise<Kept> {
    // Most processes write nothing: that a file is empty needs no look at the disk.
    if (file.size < 0 && piece.end && wholeSize(piece) === 0) file.size = 0;
    if (file.size < 0) await this.#small.recall(log, file);
    if (file.isSmall || (await this.#small.take(log, file, piece))) {
      return { offset: Math.max(file.size, piece.offset + piece.bytes.length), end: true };
    }
    const kept = await this.#write(logPath(log), file, piece);
    if (kept.end) await this.#fold(log, file);
    return kept;
  }

  /** Folds a log into its segment. The log is kept already: a failure costs only disk room. */
  async #fold(log: LogPlace, file: LogFile): Promise<void> {
    try {
      await this.#small.fold(log, file);
    } catch (error) {
      const words = { file: logPath(log), error: String(error) };
      this.#options.log.warn(words, 'cannot move small output into the segment of its job');
    }
  }

  async #write(relative: string, file: LogFile, piece: LogPiece): Promise<Kept> {
    if (file.size < 0) await this.#recall(relative, file);
    const { fileBytesMax } = this.#options;
    const wanted = piece.offset + piece.bytes.length;
    if (piece.offset > file.size && file.size < fileBytesMax) {
      return { offset: file.size, end: false };
    }
    const fresh = piece.bytes.subarray(Math.max(0, file.size - piece.offset));
    const kept = fresh.subarray(0, Math.max(0, fileBytesMax - file.size));
    if (kept.length > 0) {
      await appendTo(path.join(this.#options.directory, relative), kept, file.size);
      file.size += kept.length;
      this.#budget.add(relative, kept.length);
      if (!piece.end && !file.isMarked && isMarked(file.size)) {
        await mark(path.join(this.#options.directory, relative));
        file.isMarked = true;
      }
    }
    file.movedAt = Date.now();
    const dropped = Math.max(file.dropped, piece.dropped + Math.max(0, wanted - fileBytesMax));
    if (dropped > file.dropped) {
      file.dropped = dropped;
      await writeSmall(path.join(this.#options.directory, `${relative}.dropped`), String(dropped));
    }
    if (piece.end) await this.#end(relative, file, piece);
    return { offset: Math.max(file.size, wanted), end: file.ended };
  }

  /** A size of -1 says that the disk has to be asked first. */
  #fileAt(relative: string): LogFile {
    const known = this.#files.get(relative);
    if (known !== undefined) return known;
    const file = {
      size: -1,
      tailSize: 0,
      dropped: 0,
      ended: false,
      isSmall: false,
      isLinked: false,
      isMarked: false,
      movedAt: 0,
      work: Promise.resolve(),
      pending: 0,
    };
    this.#files.set(relative, file);
    return file;
  }

  /** What is known of a removed file would make it look as if it were still there. */
  #forget(relative: string): void {
    if (path.basename(relative) === SEGMENT) return this.#forgetSegment(path.dirname(relative));
    if (this.#files.get(relative)?.pending === 0) this.#files.delete(relative);
  }

  #forgetSegment(folder: string): void {
    this.#segments.forget(Number(path.basename(folder)));
    for (const [relative, { isSmall }] of this.#files) {
      if (isSmall && path.dirname(relative) === folder) this.#forget(relative);
    }
  }

  async #recall(relative: string, file: LogFile): Promise<void> {
    file.size = (await sizeOf(path.join(this.#options.directory, relative))) ?? 0;
    file.dropped = file.size === 0 ? 0 : await this.#dropped(relative);
    file.tailSize = file.size === 0 ? 0 : await this.#tailSize(relative);
    file.isMarked = await hasMark(path.join(this.#options.directory, relative), file.size);
  }

  /** The cut is told in the output itself: who reads it later must not take it for whole. */
  async #end(relative: string, file: LogFile, { tail }: LogPiece): Promise<void> {
    const cut = file.dropped > 0 ? cutWords(file.dropped, this.#options.fileBytesMax) : '';
    if (!file.ended && (cut !== '' || tail !== undefined)) {
      const bytes = Buffer.concat([Buffer.from(cut), tail ?? new Uint8Array(0)]);
      await writeSmall(path.join(this.#options.directory, tailOf(relative)), bytes);
      this.#budget.add(relative, bytes.length - file.tailSize);
      file.tailSize = bytes.length;
    }
    if (file.isMarked) await unmark(path.join(this.#options.directory, relative));
    file.isMarked = false;
    file.ended = true;
  }

  async #readTail(relative: string, offset: number, into: Buffer): Promise<Uint8Array> {
    const handle = await openExisting(path.join(this.#options.directory, tailOf(relative)));
    if (handle === null) return new Uint8Array();
    try {
      const { bytesRead } = await handle.read(into, 0, into.length, offset);
      return into.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  }

  async #tailSize(relative: string): Promise<number> {
    return (await sizeOf(path.join(this.#options.directory, tailOf(relative)))) ?? 0;
  }

  async #dropped(relative: string): Promise<number> {
    const handle = await openExisting(path.join(this.#options.directory, `${relative}.dropped`));
    if (handle === null) return 0;
    try {
      return Number(await handle.readFile('utf8'));
    } finally {
      await handle.close();
    }
  }

  #tellWatchers(relative: string): void {
    const watchers = this.#watchers.get(relative);
    if (watchers !== undefined) for (const changed of [...watchers]) changed();
  }

  #done(relative: string, file: LogFile): void {
    file.pending -= 1;
    this.#tellWatchers(relative);
    if (this.#files.size <= KNOWN_MAX) return;
    for (const [oldest, { pending }] of this.#files) {
      if (this.#files.size <= KNOWN_MAX) return;
      if (pending === 0) this.#files.delete(oldest);
    }
  }
}

function tailOf(relative: string): string {
  return `${relative}.tail`;
}

function cutWords(dropped: number, limit: number): string {
  const words = `${dropped} bytes of output are missing here: this stream exceeded head.log_limit`;
  return `\n[weft: ${words} (${formatSize(limit)}); --output FILE keeps all of it]\n`;
}
