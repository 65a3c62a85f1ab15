// Carries out the runner's effects: prepares, starts, signals, sweeps, ships and cleans up.

import type { Result } from '../base/result.ts';
import type { EpochId } from '../model/ids.ts';
import { ATTACHED_STDIN } from '../model/job.ts';
import type { LaunchOrder } from '../model/orders.ts';
import type { LaunchRequest, Processes } from '../ports/processes.ts';
import {
  type Epoch,
  isOpen,
  isReleased,
  type Now,
  type Preparation,
  processesOf,
} from '../runner/epoch.ts';
import type { RunnerInput } from '../runner/inputs.ts';
import type { Effect } from '../runner/outstanding.ts';
import type { RunnerState } from '../runner/state.ts';
import type { Stream } from '../wire/messages.ts';
import { inputPipes } from './attached-input.ts';
import type { Feeds } from './feeds.ts';
import { Movements } from './movements.ts';
import { fileNameOf, hostFile, scriptFile, slotsFile, spoolFile, workDirectory } from './names.ts';
import type { OutputFile, OutputShipper } from './outputs.ts';
import type { AgentPart, Joining } from './part.ts';
import type { AgentSettings, AllPorts } from './ports.ts';
import { type Prepared, Preparer } from './prepare.ts';
import { Spools } from './spools.ts';
import { Sweeper } from './sweeper.ts';
import { TaskContainers } from './task-containers.ts';

export interface HandsWorld {
  readonly ports: AllPorts;
  readonly settings: AgentSettings;
  readonly parts: readonly AgentPart[];
  readonly outputs: OutputShipper;
  readonly feeds: Feeds;
  readonly processes: () => Processes | null;
  readonly start: (request: LaunchRequest) => void;
  readonly signal: Processes['signal'];
  /** Why the launcher that is there cannot be asked for anything new; null: it can. */
  readonly cannotStart: () => string | null;
  /** A start has failed for want of something that this process has a limit of. */
  readonly onLack: (words: string) => void;
  readonly isLaunching: (epochId: EpochId) => boolean;
  readonly killGraceMs: () => number;
  readonly step: (input: RunnerInput) => void;
  readonly now: () => Now;
}

/** The directory itself, that for temporary files, and what is being laid out. */
const WORK_ENDS = ['', '.tmp', '.in'];
const SIGCONT = 18;
const SIGSTOP = 19;
/** After an epoch's name the node rank; after that or a name used again the rank and the stream. */
const SPOOL_END = /(?:(\.\d+){1,2}\.(out|err)|\.in(\.end)?)$/;

export class Hands {
  readonly #world: HandsWorld;
  readonly #preparer: Preparer;
  readonly #sweeper: Sweeper;
  readonly #movements: Movements;
  readonly #containers: TaskContainers;
  /** Between `prepared` and the journal's word that it may start. */
  readonly #prepared = new Map<EpochId, Prepared>();
  #spools = new Spools([]);

  constructor(world: HandsWorld) {
    this.#world = world;
    const { ports, settings, parts, processes, feeds } = world;
    this.#containers = new TaskContainers(ports, settings);
    this.#movements = new Movements({ ports, settings, step: world.step });
    this.#preparer = new Preparer({ ports, settings, parts, feeds, spools: () => this.#spools });
    this.#sweeper = new Sweeper({
      ports,
      settings,
      processes,
      containers: this.#containers,
      now: world.now,
      onSwept: (epoch, use) => {
        const { epochId } = epoch.order;
        const silent = world.outputs.endsSilently(epochId);
        const leaves = this.#movements.leaves(epoch);
        world.step({ kind: 'swept', epochId, ...use, silent, leaves });
      },
    });
  }

  /** A head has taken this agent for its node. */
  greeted(): void {
    this.#movements.greeted();
  }

  /** Once, before anything is performed: directories, groups and output files of earlier lives. */
  prepareNode(state: RunnerState): void {
    this.#preparer.makeDirectories();
    this.#world.feeds.takeUp(state.epochs.keys());
    this.#spools = new Spools(spoolsOf(state));
    for (const epoch of state.epochs.values()) if (!isReleased(epoch)) this.#watchOutputs(epoch);
    this.#world.ports.containment.adopt(limitGroupsOf(state));
    this.#removeOrphans(state);
  }

  /** Before what a launcher knows is taken up: it may not be the one that started these. */
  onLauncherFound(state: RunnerState): void {
    this.#sweeper.adopt(state.epochs.keys());
  }

  /** What its processes were started with, for one more. */
  joining(epoch: Epoch): Promise<Result<Joining, string>> {
    return this.#preparer.joining(epoch);
  }

  stop(): void {
    this.#sweeper.stop();
    this.#containers.stop();
    this.#movements.stop();
  }

  /** Throws what one epoch's files, group or launcher did; the engine keeps that to the epoch. */
  perform(effect: Effect, epoch: Epoch): void {
    switch (effect.kind) {
      case 'prepare':
        this.#prepare(epoch.order);
        return;
      case 'start':
        this.#start(epoch);
        return;
      case 'signal':
        this.#signal(epoch, effect);
        return;
      case 'sweep':
        if (epoch.phase === 'sweeping') this.#sweeper.sweep(epoch);
        return;
      case 'store':
        this.#movements.store(epoch);
        return;
      default:
        this.#movements.end(epoch.order.epochId, () => this.#release(epoch));
    }
  }

  #prepare(order: LaunchOrder): void {
    const outcome = this.#preparer.prepare(order, this.#movements.bringing(order));
    if (!(outcome instanceof Promise)) return this.#onPrepared(order, outcome);
    void outcome.then((value) => {
      this.#onPrepared(order, value);
      this.#movements.over(order.epochId);
    });
  }

  /** The fault is told first: the head sends no more, and counts nothing against the node. */
  #lacks(epochId: EpochId, why: string): void {
    this.#world.onLack(why);
    this.#world.step({ kind: 'given_back', epochId, why });
  }

  #onPrepared(order: LaunchOrder, outcome: Awaited<ReturnType<Preparer['prepare']>>): void {
    const { epochId } = order;
    if (!outcome.ok) {
      const { cause = 'launch_failed', lack, ...failure } = outcome.error;
      if (lack !== undefined) return this.#lacks(epochId, lack);
      this.#world.step({ kind: 'prepare_failed', epochId, failure, cause });
      return;
    }
    const { preparation } = outcome.value;
    this.#prepared.set(epochId, outcome.value);
    const why = this.#world.cannotStart();
    if (why === null) this.#world.step({ kind: 'prepared', epochId, preparation });
    else this.#world.step({ kind: 'given_back', epochId, why });
    if (!this.#world.isLaunching(epochId)) this.#giveBack(order, preparation);
  }

  /** The epoch was ended, and cleaned up after, while its user was being looked up. */
  #giveBack(order: LaunchOrder, { group, spool, uid }: Preparation): void {
    this.#prepared.delete(order.epochId);
    if (spool !== undefined && uid !== null) this.#spools.giveBack(uid, spool);
    if (group !== null) this.#world.ports.containment.release(group);
    this.#removeFiles(order, () => undefined);
  }

  #start(epoch: Epoch): void {
    const { epochId } = epoch.order;
    const prepared = this.#prepared.get(epochId);
    const first = processesOf(epoch)[0]?.launchId;
    if (prepared === undefined || first === undefined) return;
    this.#prepared.delete(epochId);
    const { onNodeLoss } = epoch.order;
    // The launcher's turn comes after the agent has had its own, with all of its grace.
    const leaseMs =
      onNodeLoss.kind === 'lease' ? onNodeLoss.leaseMs + this.#world.killGraceMs() : null;
    let asked = 0;
    try {
      for (const request of prepared.requests(first, leaseMs)) {
        this.#world.start(request);
        asked += 1;
      }
    } catch (error) {
      this.#failStarts(epoch, asked, error);
    }
    this.#watchOutputs(epoch);
  }

  /** Never asked for again: should one have been half done, the sweep ends it. */
  #failStarts(epoch: Epoch, from: number, error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    this.#world.ports.log.error({ error, epoch: epoch.order.epochId }, 'a start failed');
    for (const { launchId } of processesOf(epoch).slice(from)) {
      this.#world.step({ kind: 'process', event: { kind: 'unstartable', launchId, why } });
    }
  }

  #watchOutputs(epoch: Epoch): void {
    if (epoch.run === null) return;
    const { uid } = epoch.run.preparation;
    this.#world.outputs.watch(epoch.order, uid, outputsOf(epoch, this.#world.settings));
  }

  #signal(epoch: Epoch, { signals = [], asked, to }: Effect): void {
    for (const process of processesOf(epoch)) {
      if (!isOpen(process)) continue;
      for (const signal of signals) this.#world.signal(process.launchId, signal, asked, to);
    }
    // What is told to end has to be awake for it.
    if (signals.includes(SIGSTOP)) this.#containers.hold(epoch, 'pause');
    else if (signals.includes(SIGCONT)) this.#containers.hold(epoch, 'unpause');
  }

  /** After the end: output to the head, then everything away that was made for the epoch. */
  #release(epoch: Epoch): void {
    const { epochId } = epoch.order;
    const isForeign = epoch.order.foreign !== undefined;
    for (const { launchId, state } of processesOf(epoch)) {
      // Who told of a loss has forgotten it; what was let go its site goes on to have.
      if (state !== 'lost' || isForeign) this.#world.processes()?.forget(launchId);
    }
    this.#world.outputs.finish(epochId, (untouched) => {
      const kept = this.#cleanSpool(epoch, untouched);
      this.#removeFiles(epoch.order, () => {
        if (kept !== null) this.#spools.giveBack(kept.uid, kept.name);
      });
    });
  }

  /** The spool name, if its files can serve another epoch; else they are removed. */
  #cleanSpool(
    epoch: Epoch,
    untouched: ReadonlySet<string>,
  ): { readonly uid: number; readonly name: string } | null {
    const { uid = null, spool: name } = epoch.run?.preparation ?? {};
    const outputs = outputsOf(epoch, this.#world.settings);
    for (const path of inputsOf(epoch, this.#world.settings)) this.#removeFile(path);
    // What a lost launcher was about to start could still open them.
    const isQuiet = processesOf(epoch).every(({ state }) => state !== 'lost');
    if (name !== undefined && uid !== null && isQuiet && this.#spools.wants(uid)) {
      const { files } = this.#world.ports;
      const isClean = ({ path }: OutputFile): boolean =>
        untouched.has(path) || files.empty(path, uid);
      if (outputs.every(isClean)) return { uid, name };
    }
    for (const { path } of outputs) this.#removeFile(path);
    return null;
  }

  /** `whenGone` comes with the journal's word that the epoch needs nothing more, never before. */
  #removeFiles(order: LaunchOrder, whenGone: () => void): void {
    if (order.directory.kind === 'private') void this.#removeWork(order, whenGone);
    else this.#released(order, whenGone);
  }

  async #removeWork(order: LaunchOrder, whenGone: () => void): Promise<void> {
    const { files, log } = this.#world.ports;
    const path = workDirectory(this.#world.settings, order.epochId);
    try {
      for (const end of WORK_ENDS) await files.removeTree(`${path}${end}`);
    } catch (error) {
      log.warn({ error, path }, 'a work directory could not be removed');
    }
    this.#released(order, whenGone);
  }

  #released(order: LaunchOrder, whenGone: () => void): void {
    const { settings } = this.#world;
    this.#world.feeds.close(order.epochId);
    if (order.program.kind === 'script') this.#removeFile(scriptFile(settings, order.epochId));
    if (order.nodes.length > 1) {
      const path = hostFile(settings, order);
      this.#removeFile(path);
      this.#removeFile(slotsFile(path));
    }
    this.#world.step({ kind: 'released', epochId: order.epochId });
    whenGone();
  }

  /** A user may have put anything in place of a file of his: what cannot be removed stays. */
  #removeFile(path: string): void {
    const { files, log } = this.#world.ports;
    try {
      files.removeFile(path);
    } catch (error) {
      log.warn({ error, path }, 'a file could not be removed');
    }
  }

  #list(path: string): string[] {
    const { files, log } = this.#world.ports;
    try {
      return files.list(path);
    } catch (error) {
      log.warn({ error, path }, 'a directory could not be read');
      return [];
    }
  }

  /** What epochs have left behind that no journal knows any more. */
  #removeOrphans(state: RunnerState): void {
    const { files, log } = this.#world.ports;
    const { stateDir } = this.#world.settings;
    const known = new Set([...[...state.epochs.keys()].map(fileNameOf), ...spoolsOf(state)]);
    for (const name of this.#list(`${stateDir}/work`)) {
      if (known.has(name.replace(/\.(tmp|in)$/, ''))) continue;
      files.removeTree(`${stateDir}/work/${name}`).catch((error: unknown) => {
        log.warn({ error, name }, 'an old work directory could not be removed');
      });
    }
    const spools = this.#list(`${stateDir}/spool`).map((uid) => `spool/${uid}`);
    for (const folder of ['scripts', ...spools]) {
      for (const name of this.#list(`${stateDir}/${folder}`)) {
        const whose = folder === 'scripts' ? name : name.replace(SPOOL_END, '');
        if (!known.has(whose)) this.#removeFile(`${stateDir}/${folder}/${name}`);
      }
    }
  }
}

/** Made for input that others bring. */
function inputsOf({ order: { epochId, files }, run }: Epoch, settings: AgentSettings): string[] {
  const uid = run?.preparation.uid ?? null;
  if (files.stdin !== ATTACHED_STDIN || uid === null) return [];
  return inputPipes(settings, { uid, epochId });
}

/** The limit groups that are in use. */
export function limitGroupsOf(state: RunnerState): string[] {
  return [...state.epochs.values()].flatMap(({ run, phase }) => {
    const group = run?.preparation.group ?? null;
    const isGone = phase === 'storing' || phase === 'ended';
    return group === null || isGone ? [] : [group];
  });
}

/** The spool names that are in use. */
function spoolsOf(state: RunnerState): string[] {
  return [...state.epochs.values()].flatMap(({ run }) => run?.preparation.spool ?? []);
}

/** The captured files of an epoch: those for which the job named no file of its own. */
function outputsOf(epoch: Epoch, settings: AgentSettings): OutputFile[] {
  const { order, run } = epoch;
  const { uid, spool } = run?.preparation ?? {};
  const place = { order, uid: uid ?? 0, spool };
  const captured = (['stdout', 'stderr'] as const).filter((s) => order.files[s] === undefined);
  return processesOf(epoch).flatMap((_, rank) =>
    captured.map((stream: Stream) => {
      return { rank, stream, path: spoolFile(settings, place, { rank, stream }) };
    }),
  );
}
