// The Staging port of a simulated agent: each file is a question to the head and its answer, on a
// connection that can be cut, slow, or lost with either end.

import { err, ok, type Result } from '../src/kernel/base/result.ts';
import type { EpochId } from '../src/kernel/model/ids.ts';
import type { LaunchOrder } from '../src/kernel/model/orders.ts';
import type { Stored } from '../src/kernel/model/staging.ts';
import type { Session } from '../src/kernel/ports/net.ts';
import type { Staging, StagingFailure } from '../src/kernel/ports/staging.ts';
import type { Life, Time } from './clock.ts';
import type { SimDisk } from './disk.ts';
import { type FileAnswer, type FileQuestion, inputName, LACKING } from './head-files.ts';

export interface StagingWorld {
  readonly time: Time;
  readonly life: Life;
  readonly disk: SimDisk;
  /** A connection for questions about files; rejects while there is none. */
  readonly dial: () => Promise<Session>;
}

/** Between two dials, and after a connection on which nothing comes. */
const RETRY_MS = 500;
const SILENT_MS = 5000;

export class SimStaging implements Staging {
  readonly #world: StagingWorld;

  constructor(world: StagingWorld) {
    this.#world = world;
  }

  async bring(
    { epochId, staging }: LaunchOrder,
    { directory }: { readonly directory: string },
    signal: AbortSignal,
  ): Promise<Result<null, StagingFailure>> {
    const { disk } = this.#world;
    const hash = staging?.inputs ?? null;
    if (hash === null) return ok(null);
    disk.removeTree(directory);
    const line = this.#line(signal);
    try {
      for (let at = 0, count = 1; at < count; at += 1) {
        const answer = await line.ask({ kind: 'want', epochId, hash, at });
        if (answer.kind !== 'piece') return err({ detail: why(answer), nodeFault: false });
        ({ count } = answer);
        disk.checkRoom();
        disk.files.set(`${directory}.in/${inputName(at)}`, Buffer.from(answer.text));
      }
      for (const name of disk.list(`${directory}.in`)) {
        const bytes = disk.files.get(`${directory}.in/${name}`) as Buffer;
        disk.files.set(`${directory}/${name}`, bytes);
      }
      disk.directories.add(directory);
      disk.removeTree(`${directory}.in`);
      return ok(null);
    } catch (error) {
      return err({ detail: (error as Error).message, nodeFault: true });
    } finally {
      line.close();
    }
  }

  async store(
    { epochId }: LaunchOrder,
    { directory }: { readonly directory: string },
    signal: AbortSignal,
  ): Promise<Result<Stored, string>> {
    const line = this.#line(signal);
    try {
      for (;;) {
        const answer = await this.#send(line, epochId, directory);
        if (answer.kind === 'refused' && answer.why !== LACKING) return err(answer.why);
        if (answer.kind !== 'stored') continue;
        return ok({ files: this.#outputs(directory).length, bytes: 0, leftOut: 0 });
      }
    } catch (error) {
      return err((error as Error).message);
    } finally {
      line.close();
    }
  }

  async #send(line: FileLine, epochId: EpochId, directory: string): Promise<FileAnswer> {
    const names = this.#outputs(directory);
    for (const name of names) {
      const text = this.#world.disk.files.get(`${directory}/${name}`)?.toString() ?? '';
      const answer = await line.ask({ kind: 'put', epochId, name, text });
      if (answer.kind === 'refused') return answer;
    }
    return line.ask({ kind: 'outputs', epochId, names });
  }

  /** What it wrote; not what was brought. */
  #outputs(directory: string): string[] {
    return this.#world.disk.list(directory).filter((name) => name.startsWith('output.'));
  }

  #line(signal: AbortSignal): FileLine {
    return new FileLine(this.#world, signal);
  }
}

function why(answer: FileAnswer): string {
  return answer.kind === 'refused' ? answer.why : 'the head answers something else';
}

/** One connection after the other, until it is closed or nobody wants it any more. */
class FileLine {
  readonly #world: StagingWorld;
  readonly #signal: AbortSignal;
  #session: Session | null = null;
  /** Number of the question that is open: an answer to an older one may come late, or twice. */
  #number = 0;
  #hear: (answer: FileAnswer | null) => void = () => undefined;

  constructor(world: StagingWorld, signal: AbortSignal) {
    this.#world = world;
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#hear(null), { once: true });
  }

  /** Asked again on every new connection. Throws when it is not wanted any more. */
  async ask(question: FileQuestion): Promise<FileAnswer> {
    for (;;) {
      this.#signal.throwIfAborted();
      const answer = await this.#once(question);
      // An agent that is gone does nothing more, not even for what its disk says.
      if (!this.#world.life.alive) return new Promise(() => undefined);
      this.#signal.throwIfAborted();
      if (answer !== null) return answer;
      this.close();
      await this.#pause(RETRY_MS);
    }
  }

  close(): void {
    this.#session?.close('done');
    this.#session = null;
  }

  async #once(question: FileQuestion): Promise<FileAnswer | null> {
    this.#session ??= await this.#dial();
    const session = this.#session;
    if (session === null) return null;
    const answered = new Promise<FileAnswer | null>((resolve) => {
      this.#hear = resolve;
    });
    const timer = this.#world.time.after(SILENT_MS, () => this.#hear(null));
    this.#number += 1;
    session.send(Buffer.from(JSON.stringify({ number: this.#number, question })));
    return answered.finally(() => timer.cancel());
  }

  async #dial(): Promise<Session | null> {
    const session = await this.#world.dial().catch(() => null);
    session?.onMessage((bytes) => {
      const { number, answer } = JSON.parse(Buffer.from(bytes).toString());
      if (this.#session === session && number === this.#number) this.#hear(answer);
    });
    session?.onClose(() => {
      if (this.#session === session) this.#hear(null);
    });
    return session;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#world.time.after(ms, resolve);
      this.#signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
