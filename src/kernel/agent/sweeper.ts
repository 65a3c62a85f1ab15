// Ends whatever an epoch's processes have left behind, and says when nothing is left.

import type { EpochId } from '../model/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { GroupUse } from '../ports/containment.ts';
import type { Log } from '../ports/log.ts';
import type { Processes } from '../ports/processes.ts';
import { endedAtOf, exitOf, instantOf, type Now, type Sweeping } from '../runner/epoch.ts';
import { markOf } from './names.ts';
import type { AgentSettings, AllPorts } from './ports.ts';
import type { TaskContainers } from './task-containers.ts';

const SIGKILL = 9;
const SIGCONT = 18;
/** First look after a KILL, doubled up to the second. Exiting takes a process some milliseconds. */
const LOOK_MS = 2;
const LOOK_MS_MAX = 1000;
/** After this long somebody should look at the node: the process sits in the kernel. */
const STUCK_MS = 30_000;

export interface SweeperWorld {
  readonly ports: AllPorts;
  readonly settings: AgentSettings;
  /** The launcher as it is now; null while there is none. */
  readonly processes: () => Processes | null;
  readonly containers: TaskContainers;
  readonly now: () => Now;
  readonly onSwept: (epoch: Sweeping, use: GroupUse) => void;
}

export class Sweeper {
  readonly #world: SweeperWorld;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Started under a launcher that may have been another than the one that is there now. */
  readonly #adopted = new Set<EpochId>();
  #stopped = false;

  constructor(world: SweeperWorld) {
    this.#world = world;
    this.#clock = world.ports.clock;
    this.#log = world.ports.log;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Processes that a new launcher cannot see: it took over only the ends of the one before. */
  adopt(epochs: Iterable<EpochId>): void {
    this.#adopted.clear();
    for (const epochId of epochs) this.#adopted.add(epochId);
  }

  /** Without anything left this is two reads and done, within the turn. */
  sweep(epoch: Sweeping): void {
    const wasLost = epoch.run.processes.some((process) => process.state === 'lost');
    const group = epoch.run.preparation.group;
    if (wasLost) this.#sweepLost(epoch, group);
    else if (group !== null) this.#sweepGroup(epoch, group, LOOK_MS);
    else if (this.#adopted.has(epoch.order.epochId)) this.#sweepLost(epoch, null);
    else void this.#sweepByLauncher(epoch);
  }

  #sweepGroup(epoch: Sweeping, group: string, lookMs: number): void {
    const { containment } = this.#world.ports;
    if (containment.isEmpty(group)) {
      this.#finish(epoch, group);
      return;
    }
    containment.kill(group);
    this.#again(epoch, lookMs, (next) => this.#sweepGroup(epoch, group, next));
  }

  /** Only the kernel knows the processes of a lost launcher: by their group and their mark. */
  #sweepLost(epoch: Sweeping, group: string | null, lookMs = LOOK_MS): void {
    const { containment, marks } = this.#world.ports;
    const own = new Set(epoch.run.processes.map((p) => markOf(this.#world.settings, p.launchId)));
    const { lived, unknown } = marks.kill(own);
    const isEmpty = group === null ? unknown === 0 : containment.isEmpty(group);
    if (group !== null && !isEmpty) containment.kill(group);
    if (lived === 0 && isEmpty) this.#finish(epoch, group);
    else this.#again(epoch, lookMs, (next) => this.#sweepLost(epoch, group, next));
  }

  async #sweepByLauncher(epoch: Sweeping, lookMs = LOOK_MS): Promise<void> {
    const processes = this.#world.processes();
    try {
      if (processes !== null && (await this.#endLeftovers(epoch, processes)) === 0) {
        this.#finish(epoch, null);
        return;
      }
    } catch (error) {
      this.#log.warn(
        { error, epoch: epoch.order.epochId },
        'the launcher ended during a search for leftover processes',
      );
    }
    this.#again(epoch, lookMs, (next) => void this.#sweepByLauncher(epoch, next));
  }

  async #endLeftovers(epoch: Sweeping, processes: Processes): Promise<number> {
    let left = 0;
    for (const { launchId, state } of epoch.run.processes) {
      if (state !== 'exited') continue;
      const count = await processes.leftovers(launchId);
      if (count > 0) for (const signal of [SIGKILL, SIGCONT]) processes.signal(launchId, signal);
      left += count;
    }
    return left;
  }

  #again(epoch: Sweeping, lookMs: number, look: (nextMs: number) => void): void {
    this.#clock.after(lookMs, () => {
      if (this.#stopped) return;
      if (lookMs === LOOK_MS_MAX) this.#complain(epoch);
      const nextMs = Math.min(lookMs * 2, LOOK_MS_MAX);
      try {
        look(nextMs);
      } catch (error) {
        // A look that fails is this epoch's trouble, not the agent's end: it looks again.
        this.#log.warn(
          { error, epoch: epoch.order.epochId },
          'a search for leftover processes failed',
        );
        this.#again(epoch, nextMs, look);
      }
    });
  }

  #complain(epoch: Sweeping): void {
    const last = Math.max(...epoch.run.processes.map((process) => endedAtOf(process) ?? 0));
    const ms = instantOf(epoch, this.#world.now()) - last;
    if (ms < STUCK_MS || ms % STUCK_MS > LOOK_MS_MAX) return;
    this.#log.warn({ epoch: epoch.order.epochId, ms }, 'leftover processes do not end after KILL');
  }

  /** Removes a task's containers last: their clients, which end them too, are gone by then. */
  #finish(epoch: Sweeping, group: string | null): void {
    const ended = this.#world.containers.end(epoch);
    if (ended === null) this.#over(epoch, group);
    else void ended.then(() => this.#over(epoch, group));
  }

  #over(epoch: Sweeping, group: string | null): void {
    if (this.#stopped) return;
    this.#adopted.delete(epoch.order.epochId);
    const use = this.#useOf(epoch, group);
    if (group !== null) this.#world.ports.containment.release(group);
    this.#world.onSwept(epoch, use);
  }

  #useOf(epoch: Sweeping, group: string | null): GroupUse {
    // Who ended well did not run out of memory; a short task saves two reads by it.
    const isFine = epoch.run.processes.every((process) => exitOf(process)?.code === 0);
    const ranMs = instantOf(epoch, this.#world.now()) - (epoch.run.start?.at ?? 0);
    if (group === null || (isFine && ranMs < MEASURED_FROM_MS)) {
      return { outOfMemory: false, memoryPeakBytes: null };
    }
    return this.#world.ports.containment.use(group);
  }
}

/** Run time from which memory is measured; of shorter runs the peak from wait4 is enough. */
const MEASURED_FROM_MS = 1000;
