// Devices that are shut to groups: by files where version 1 has them, else by a program in the
// kernel, which the launcher puts into a group of version 2. Both need root.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Device, Fence } from '../../ports/containment.ts';
import { removeDirectories } from './group.ts';
import type { Base, Layout } from './layout.ts';

/** The launcher asks the kernel twice and ends. */
const PATIENCE_MS = 2000;
/** Group in which it is tried whether there is a fence. */
const PROBE = 'probe';
/** After a failure groups stay open for so long: a start must not wait for each of many. */
const AGAIN_AFTER_MS = 60_000;

/** What puts a fence into one group. Throws with what the kernel said. */
interface Way {
  readonly words: string;
  readonly base: Base;
  put(path: string, devices: readonly Device[]): void;
}

export class DeviceFence {
  readonly #way: Way | string;
  #state: Fence | null = null;
  /** When it failed last. */
  #failedAt = Number.NEGATIVE_INFINITY;

  /** `launcher`: the compiled one; null: there is none. */
  constructor(layout: Layout, launcher: readonly string[] | null, isRoot: boolean) {
    this.#way = isRoot ? wayOf(layout, launcher) : 'the agent does not run as root';
  }

  /** Tried when it is asked for the first time: most nodes have nothing to shut. */
  get state(): Fence {
    this.#state ??= this.#probe();
    return this.#state;
  }

  /** Whether it is worth while to ask for it. */
  get isOpen(): boolean {
    if (typeof this.#way === 'string') return true;
    return !this.state.holds && performance.now() - this.#failedAt < AGAIN_AFTER_MS;
  }

  /** False: the group is open, and the state says why. */
  put(name: string, devices: readonly Device[]): boolean {
    if (typeof this.#way === 'string') return false;
    const { base, words, put } = this.#way;
    try {
      put(`${base.path}/${name}`, devices);
    } catch (error) {
      this.#failedAt = performance.now();
      this.#tell({ holds: false, words: wordsOf(error) });
      return false;
    }
    this.#tell({ holds: true, words });
    return true;
  }

  #tell({ holds, words }: Fence): void {
    if (this.#state?.holds !== holds || this.#state.words !== words) this.#state = { holds, words };
  }

  #probe(): Fence {
    if (typeof this.#way === 'string') return { holds: false, words: this.#way };
    const { base, words, put } = this.#way;
    const path = `${base.path}/${PROBE}`;
    try {
      mkdirSync(path, { recursive: true });
      // A card of NVIDIA that no machine has.
      put(path, ['c195:254']);
      return { holds: true, words };
    } catch (error) {
      this.#failedAt = performance.now();
      return { holds: false, words: wordsOf(error) };
    } finally {
      removeDirectories([path]);
    }
  }
}

function wayOf({ devices, tracker }: Layout, launcher: readonly string[] | null): Way | string {
  if (devices !== null) return { words: 'device cgroup', base: devices, put: deny };
  if (tracker?.version !== 2) return 'there is no cgroup that knows devices';
  if (launcher === null) return 'the launcher was not compiled';
  const put = (path: string, shut: readonly Device[]) => load(launcher, path, shut);
  return { words: 'BPF program of the cgroup', base: tracker, put };
}

/**
 * One device to a write. Where the groups above let in a list of devices only, as those of
 * containers do, the kernel takes single ones off no `c 195:*` of it, and says nothing.
 */
function deny(path: string, devices: readonly Device[]): void {
  for (const device of devices) {
    writeFileSync(`${path}/devices.deny`, `${device.slice(0, 1)} ${device.slice(1)} rwm`);
  }
  const listed = readFileSync(`${path}/devices.list`, 'utf8').split('\n');
  // Everything but what was written.
  if (listed[0]?.startsWith('a ') === true) return;
  const open = listed.find((line) => devices.some((device) => lets(line, device)));
  if (open !== undefined) throw new Error(`the groups above let in all of '${open}'`);
}

/** Whether a line as `c 195:* rwm` lets a group open it. */
function lets(line: string, device: Device): boolean {
  const [, kind, ...listed] = /^([bc]) (\d+|\*):(\d+|\*) /.exec(line) ?? [];
  const own = device.slice(1).split(':');
  return kind === device[0] && listed.every((one, at) => one === '*' || one === own[at]);
}

/** In the middle of everything: a few milliseconds for a group, which is used again. */
function load(
  [program = '', ...words]: readonly string[],
  path: string,
  devices: readonly Device[],
): void {
  const { status, stderr, error } = spawnSync(program, [...words, '--fence', path, ...devices], {
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    env: {},
    timeout: PATIENCE_MS,
    killSignal: 'SIGKILL',
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(stderr.trim().split('\n')[0] ?? 'the launcher was killed');
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : String(error);
}
