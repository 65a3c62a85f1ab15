// The machine of the head: boots the real head shell on a simulated store, lets it crash anywhere,
// and keeps what outlives it: the disk and the output files.

import type { Result } from '../src/kernel/base/result.ts';
import type { Engine } from '../src/kernel/head/engine.ts';
import type { GatewayWorld } from '../src/kernel/head/gateways.ts';
import { type Head, type HeadSettings, startHead } from '../src/kernel/head/head.ts';
import type { Kept, LogSink } from '../src/kernel/head/log-sink.ts';
import type { LogFiles } from '../src/kernel/head/logs/log-files.ts';
import type { Command } from '../src/kernel/machine/declared.ts';
import type { Reply } from '../src/kernel/machine/reply.ts';
import type { Actor } from '../src/kernel/model/actor.ts';
import type { Refusal } from '../src/kernel/model/errors.ts';
import { formatEpochId, formatTaskId, type NodeName } from '../src/kernel/model/ids.ts';
import type { Scheduling } from '../src/kernel/model/scheduling.ts';
import type { Submission } from '../src/kernel/model/submission.ts';
import type { Commands } from '../src/kernel/ports/commands.ts';
import type { Log } from '../src/kernel/ports/log.ts';
import type { Session } from '../src/kernel/ports/net.ts';
import { type Commit, type Store, StoreFailure } from '../src/kernel/ports/store.ts';
import type { Notifiers } from '../src/wings/notify/head/notifiers.ts';
import { notifyHead } from '../src/wings/notify/head/part.ts';
import { gatewaysOf } from '../src/wings/sites/head/gateways.ts';
import { head as sites } from '../src/wings/sites/head/part.ts';
import type { Streams } from './chance.ts';
import { Life, SimClock, type Skew, simBootClock, type Time } from './clock.ts';
import { type FileQuestion, HeadFiles } from './head-files.ts';
import { HEAD_MACHINE } from './head-machine.ts';
import { MemoryDisk } from './memory-store.ts';
import { type CommitCrash, SimStore } from './store.ts';

export interface HeadWorld {
  readonly time: Time;
  /** Those of its disk. */
  readonly streams: Streams;
  readonly log: Log;
  /** `EngineOptions.firstWordMs`. */
  readonly firstWordMs?: number;
  /** What its config file says at the start. */
  readonly settings: HeadSettings;
  readonly commitMs: { readonly min: number; readonly max: number };
  readonly note: (text: string) => void;
  /** Called when its connections break, as its program is gone. */
  readonly onGone: () => void;
  /** Before a crash: memory and disk can be compared. */
  readonly onCrash: (host: HeadHost) => void;
  readonly onBooted: (host: HeadHost) => void;
  readonly onDurable: (host: HeadHost, commit: Commit) => void;
  /** How those are told who want to know of ends; null = nobody is. */
  readonly notifiersOf: ((life: Life) => Notifiers) | null;
  /** How nodes are switched off when tasks wait for them; null = an operator has to. */
  readonly fence: Commands | null;
  /** Lets a canary put something between the head and its store or its agents. */
  readonly wrapStore: (store: Store) => Store;
  readonly wrapSession: (session: Session) => Session;
}

interface NumberedQuestion {
  readonly number: number;
  readonly question: FileQuestion;
}

/** The same in every run: nobody here forges anything. */
const STAMP_KEY = new Uint8Array(32);
/** How often files that nothing names are looked for. */
const SWEEP_MS = 3000;
/** Nodes and jobs of a look at a site that one step decides: few, as simulated sites are small. */
const SITE_PART = 3;

export class HeadHost {
  readonly disk = new MemoryDisk();
  readonly logs = new SimLogs();
  readonly files = new HeadFiles();
  readonly skew: Skew = { rate: 1, wallMs: 0, bootedAt: 0 };
  readonly #world: HeadWorld;
  /** Null unless it can be asked; while it stops, only `engine` is left. */
  head: Head | null = null;
  engine: Engine | null = null;
  life = new Life();
  commitCrash: CommitCrash = 'none';
  syncFailures = 0;
  /** Told at its next start: go on without records that only nodes know of. */
  acceptLoss = false;
  /** False: a planted bug. */
  countsLives = true;
  /** What its config file says. */
  #settings: HeadSettings;
  #store: SimStore | null = null;
  /** Asked for while the one before was still stopping. */
  #bootAgain = false;

  constructor(world: HeadWorld) {
    this.#world = world;
    this.#settings = world.settings;
    this.life.alive = false;
  }

  get isUp(): boolean {
    return this.head !== null;
  }

  boot(): void {
    if (this.life.alive) {
      this.#bootAgain = this.head === null && this.engine !== null;
      return;
    }
    const { time, streams, log, commitMs, firstWordMs = 0 } = this.#world;
    const life = new Life();
    this.life = life;
    this.commitCrash = 'none';
    const store = new SimStore(this.disk, {
      time,
      streams,
      life,
      commitMs,
      crashAt: () => this.commitCrash,
      crash: () => this.crash(),
      syncFailures: () => this.syncFailures,
      onDurable: (commit) => this.#world.onDurable(this, commit),
    });
    this.#store = store;
    this.#world.note('head boots');
    const clock = new SimClock(time, life, this.skew);
    const { fence, notifiersOf } = this.#world;
    const ports = {
      machine: HEAD_MACHINE,
      store: this.#world.wrapStore(store),
      clock,
      log,
      logs: this.logs,
      bootClock: simBootClock(clock, 'the only start of its machine'),
      ...(this.countsLives
        ? { lives: { chance: streams.of('life'), key: STAMP_KEY, firstWordMs } }
        : {}),
      acceptLoss: this.acceptLoss,
      parts: [
        { ...sites, gateways: (world: GatewayWorld) => gatewaysOf(world, SITE_PART) },
        notifyHead({ notifiers: notifiersOf?.(life) ?? null, audit: log, clusterName: 'sim' }),
      ],
      ...(fence === null
        ? {}
        : { fencing: { ...FENCE, commands: whileAlive(fence, life), audit: log } }),
    };
    startHead(ports, this.#settings).then(
      (head) => {
        if (!life.alive) return;
        this.head = head;
        this.engine = head.engine;
        this.#world.onBooted(this);
        this.#sweepFiles(life);
      },
      (error: unknown) => {
        if (!(error instanceof StoreFailure)) throw error;
        life.alive = false;
      },
    );
  }

  #sweepFiles(life: Life): void {
    const { time } = this.#world;
    if (!life.alive || this.engine === null) return;
    this.files.sweep(this.engine, time.now);
    time.after(SWEEP_MS, () => this.#sweepFiles(life));
  }

  /** Ends the head like `kill -9`, wherever it stands. */
  crash(): void {
    if (!this.life.alive) return;
    this.#world.note('head crashes');
    if (this.engine !== null) this.#world.onCrash(this);
    this.#gone();
  }

  /** In good order: a snapshot is left. */
  stop(): void {
    const { head, life } = this;
    if (head === null) return;
    this.#world.note('head stops');
    this.head = null;
    void head.stop().then(() => {
      if (life.alive) this.#gone();
    });
  }

  get scheduling(): Scheduling {
    return this.#settings.settings.scheduling;
  }

  /** The file is another. A head reads it when it starts, or when it is told to. */
  configure(scheduling: Scheduling): void {
    const { settings, ...rest } = this.#settings;
    this.#settings = { ...rest, settings: { ...settings, scheduling } };
  }

  reload(): void {
    this.#world.note('the head is to read its config again');
    this.head?.change(this.#settings);
  }

  accept(session: Session): void {
    this.head?.agents.accept(this.#world.wrapSession(session));
  }

  /** A node's connection for the files of its tasks. */
  acceptFiles(session: Session, node: NodeName): void {
    const { life, files } = this;
    session.onMessage((bytes) => {
      const { engine } = this;
      if (!life.alive || engine === null) return;
      const { number, question } = JSON.parse(Buffer.from(bytes).toString()) as NumberedQuestion;
      const answer = files.answer(engine, node, question, this.#world.time.now);
      session.send(Buffer.from(JSON.stringify({ number, answer })));
    });
  }

  /** Calls back unless the head is gone by then. False: nobody is there to ask. */
  execute(command: Command, actor: Actor, done: (result: Result<Reply, Refusal>) => void): boolean {
    const { head, life } = this;
    if (head === null) return false;
    // The client sends what the head lacks with each try.
    for (const { staging } of submissionsOf(command)) {
      if (staging?.inputs !== undefined) this.files.send(staging.inputs, this.#world.time.now);
    }
    void head.engine.execute(command, actor).then((result) => {
      if (life.alive) done(result);
    });
    return true;
  }

  #gone(): void {
    this.life.alive = false;
    this.files.crash();
    this.#store?.crash();
    this.head = null;
    this.engine = null;
    this.#world.onGone();
    if (!this.#bootAgain) return;
    this.#bootAgain = false;
    this.#world.time.after(10, () => this.boot());
  }
}

function submissionsOf(command: Command): readonly Submission[] {
  if (command.kind === 'submit_job') return [command.submission];
  return command.kind === 'submit_batch' ? command.parts.map((part) => part.submission) : [];
}

/** The switch takes the bare name of a node, and answers in its own time. */
const FENCE = { command: ['{node}'], timeoutMs: 60_000 };

/** A head that is gone hears no answer. */
function whileAlive(commands: Commands, life: Life): Commands {
  return {
    run: (command) =>
      new Promise((resolve) => {
        void commands.run(command).then((end) => {
          if (life.alive) resolve(end);
        });
      }),
  };
}

/** Output as the head keeps it: what has been acknowledged stays. */
export class SimLogs implements LogSink {
  readonly files = new Map<string, Buffer>();
  readonly ended = new Set<string>();

  async status(name: SimLogName): ReturnType<LogFiles['status']> {
    const key = keyOf(name);
    const ended = this.ended.has(key);
    const size = this.files.get(key)?.length ?? 0;
    return { ended, size, dropped: 0, isOpen: !ended && size > 0, movedAt: 0 };
  }

  async read(name: SimLogName, offset: number, length: number): Promise<Uint8Array> {
    return Uint8Array.from(this.files.get(keyOf(name))?.subarray(offset, offset + length) ?? []);
  }

  async append(
    name: Parameters<LogSink['append']>[0],
    piece: Parameters<LogSink['append']>[1],
  ): Promise<Kept> {
    const key = `${name.epochId}/${name.nodeRank}/${name.rank}/${name.stream}`;
    const before = this.files.get(key) ?? Buffer.alloc(0);
    if (piece.offset > before.length) return { offset: before.length, end: false };
    const fresh = piece.bytes.subarray(before.length - piece.offset);
    this.files.set(key, Buffer.concat([before, fresh]));
    if (piece.end) this.ended.add(key);
    return { offset: before.length + fresh.length, end: this.ended.has(key) };
  }
}

type SimLogName = Parameters<LogFiles['status']>[0];

function keyOf({ place, epoch, nodeRank, rank, stream }: SimLogName): string {
  const epochId = formatEpochId(formatTaskId(place.jobId, place.index), epoch);
  return `${epochId}/${nodeRank}/${rank}/${stream}`;
}
