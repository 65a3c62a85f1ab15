// The agent's line to its launcher: had again whenever it is lost, with what is to be started kept
// meanwhile, and with what the launcher knows brought together with what the journal knows.

import type { EpochId } from '../model/ids.ts';
import type { KnownProcess, ProcessEvent } from '../model/processes.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';
import type { LaunchRequest, Processes } from '../ports/processes.ts';
import { adoptionInputs, strangers } from '../runner/adopt.ts';
import type { RunnerInput } from '../runner/inputs.ts';
import type { RunnerState } from '../runner/state.ts';

export interface LauncherLineWorld {
  readonly clock: Clock;
  readonly log: Log;
  readonly connect: () => Promise<Processes>;
  readonly state: RunnerState;
  readonly step: (input: RunnerInput) => void;
  /** A launcher is there, and nothing of what it knows has been stepped yet. */
  readonly onFound: () => void;
  /** The input of its process was cut off when an earlier agent ended. */
  readonly isBroken: (epochId: EpochId) => boolean;
  /** What the launcher knew has been stepped: the time to take up what is outstanding. */
  readonly onAdopted: () => void;
}

/** How long to wait before asking for a launcher again that could not be had. */
const RETRY_MS = 500;
/** A launcher is asked after so long without an answer, and is silent after so long again. */
const SILENT_MS = 10_000;
const TOLD_AGAIN_MS = 60_000;
const SIGKILL = 9;
const SIGCONT = 18;

interface Untold {
  readonly what: 'start' | 'signal';
  /** Monotonic. */
  readonly since: number;
}

export class LauncherLine {
  readonly #world: LauncherLineWorld;
  #processes: Processes | null = null;
  /** Starts decided while there was no launcher. */
  #queued: LaunchRequest[] = [];
  /** Whether the last launcher was outdated: the next is most likely the same, found again. */
  #outdated: string | null = null;
  #stopped = false;
  /** Starts and signals that were asked for and not told of yet: the oldest first. */
  readonly #untold = new Map<number, Untold>();
  /** Monotonic time of a question that the launcher has not answered yet; null: none is open. */
  #questionAt: number | null = null;
  /** Those of no epoch, with who hears of them. */
  readonly #beside = new Map<number, (event: ProcessEvent) => void>();

  constructor(world: LauncherLineWorld) {
    this.#world = world;
  }

  /** Null while there is no launcher. */
  get processes(): Processes | null {
    return this.#processes;
  }

  /** Whether it is older than the agent, and can be asked for nothing new. */
  get isOutdated(): boolean {
    return this.#outdated !== null;
  }

  /** Whether it is there and does not answer: it was stopped, say. To be asked every so often. */
  get isSilent(): boolean {
    const now = this.#world.clock.monotonic();
    if (this.#questionAt !== null) return now - this.#questionAt >= SILENT_MS;
    const [oldest] = this.#untold;
    if (oldest !== undefined && now - oldest[1].since >= SILENT_MS) this.#question(oldest[0]);
    return false;
  }

  /** Resolves with the first launcher that could be had. */
  async connect(): Promise<void> {
    let told = null as { readonly words: string; readonly at: number } | null;
    while (!this.#stopped) {
      try {
        const processes = await this.#world.connect();
        await this.#adopt(processes);
        return;
      } catch (error) {
        const words = String(error);
        const at = this.#world.clock.monotonic();
        // Twice a second for days, where a launcher of a newer release runs on.
        if (told?.words !== words || at - told.at >= TOLD_AGAIN_MS) {
          this.#world.log.error({ error }, 'there is no launcher; no task can start');
          told = { words, at };
        }
        await new Promise<void>((resolve) => {
          this.#world.clock.after(RETRY_MS, resolve);
        });
      }
    }
  }

  start(request: LaunchRequest): void {
    if (this.#processes === null) this.#queued.push(request);
    else this.#start(this.#processes, request);
  }

  /** Without a launcher there is nothing to signal: all that it has started ends with it. */
  signal(...wish: Parameters<Processes['signal']>): void {
    if (this.#processes === null) return;
    const [launchId] = wish;
    // The end of its process may tell that it has come: the first of several is waited for.
    if (!this.#untold.has(launchId)) this.#wait(launchId, 'signal');
    this.#processes.signal(...wish);
  }

  /** One of no epoch, which a next agent does not take over. Null: it cannot be started now. */
  startBeside(
    request: Omit<LaunchRequest, 'launchId'>,
    heard: (event: ProcessEvent) => void,
  ): number | null {
    const processes = this.#processes;
    if (processes === null || processes.outdated !== null) return null;
    const launchId = this.#world.state.nextLaunchId;
    this.#world.step({ kind: 'launch_ids_used', upTo: launchId });
    this.#beside.set(launchId, heard);
    this.#start(processes, { ...request, launchId });
    return launchId;
  }

  /** Hears and asks nothing more; who takes the launcher from here also closes it. */
  give(): Processes | null {
    this.#stopped = true;
    const processes = this.#processes;
    this.#processes = null;
    processes?.onEvent(() => undefined);
    return processes;
  }

  async #adopt(processes: Processes): Promise<void> {
    const { clock, state, step, onAdopted, isBroken } = this.#world;
    processes.onEvent((event) => this.#onEvent(processes, event));
    processes.onLost((why) => this.#onLost(processes, why));
    const late = clock.after(SILENT_MS, () => {
      const words = 'the launcher does not answer; the node is away until it does';
      this.#world.log.error({}, words);
    });
    const known = await processes.adopt().finally(() => late.cancel());
    if (this.#stopped) return;
    this.#processes = processes;
    this.#outdated = processes.outdated;
    this.#world.onFound();
    if (state.heardAt !== null) processes.heard(state.heardAt);
    // What still waits in the queue was never asked of any launcher: it is not lost.
    const queued = this.#queued;
    this.#queued = [];
    const waiting = new Set(queued.map(({ launchId }) => launchId));
    this.#endStrangers(processes, known);
    for (const input of adoptionInputs(state, known, clock.now(), isBroken)) {
      if (input.kind === 'process' && waiting.has(input.event.launchId)) continue;
      step(input);
    }
    for (const request of queued) this.#startQueued(processes, request);
    onAdopted();
  }

  /** Starts what was queued; an older launcher than there was at that time starts nothing. */
  #startQueued(processes: Processes, request: LaunchRequest): void {
    const { launchId } = request;
    const why = this.#outdated;
    if (why === null) this.#start(processes, request);
    else this.#world.step({ kind: 'process', event: { kind: 'unstartable', launchId, why } });
  }

  #start(processes: Processes, request: LaunchRequest): void {
    this.#wait(request.launchId, 'start');
    processes.start(request);
  }

  #wait(launchId: number, what: Untold['what']): void {
    this.#untold.set(launchId, { what, since: this.#world.clock.monotonic() });
  }

  #question(launchId: number): void {
    const { clock } = this.#world;
    const askedAt = clock.monotonic();
    this.#questionAt = askedAt;
    const processes = this.#processes;
    processes?.leftovers(launchId).then(
      () => {
        if (this.#processes !== processes) return;
        this.#questionAt = null;
        // The launcher answers, so this one start takes long: on a disk that hangs, say.
        const isStart = this.#untold.get(launchId)?.what === 'start';
        if (isStart && this.#untold.delete(launchId)) this.#wait(launchId, 'start');
        // A launcher reads in order: signals that were sent before the question have reached it.
        for (const [id, { what, since }] of this.#untold)
          if (what === 'signal' && since <= askedAt) this.#untold.delete(id);
      },
      () => undefined,
    );
  }

  #onEvent(processes: Processes, event: ProcessEvent): void {
    const { state, step } = this.#world;
    this.#untold.delete(event.launchId);
    const isOurs = state.byLaunch.has(event.launchId);
    const isOver = event.kind === 'exited' || event.kind === 'failed';
    const heard = this.#beside.get(event.launchId);
    if (heard === undefined) step({ kind: 'process', event });
    if (isOver) this.#beside.delete(event.launchId);
    if (!isOurs && isOver) processes.forget(event.launchId);
    heard?.(event);
  }

  /** Left by an agent whose journal is gone: nobody will ever ask for them. */
  #endStrangers(processes: Processes, known: readonly KnownProcess[]): void {
    for (const { launchId, state, isForeign } of strangers(this.#world.state, known)) {
      if (state === 'ended' || isForeign) {
        processes.forget(launchId);
        continue;
      }
      this.#world.log.warn({ launchId }, 'a process is in no journal; it is ended');
      for (const signal of [SIGKILL, SIGCONT]) processes.signal(launchId, signal);
    }
  }

  #loseBeside(): void {
    const all = [...this.#beside];
    this.#beside.clear();
    for (const [launchId, heard] of all) heard({ kind: 'lost', launchId });
  }

  #onLost(processes: Processes, why: string): void {
    if (this.#processes !== processes || this.#stopped) return;
    if (processes.outdated === null) this.#world.log.error({ why }, 'the launcher is lost');
    else this.#world.log.warn({ why }, 'a new launcher takes over');
    this.#processes = null;
    this.#untold.clear();
    this.#questionAt = null;
    this.#loseBeside();
    void this.connect();
  }
}
