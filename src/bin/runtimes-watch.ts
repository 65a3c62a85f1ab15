// Looks again and again what the machine can run containers with: a daemon may start after the
// agent, or end before it.

import { enginesPath } from '../kernel/agent/environment.ts';
import {
  type ContainerRuntime,
  runtimeLabels,
  runtimeWords,
} from '../kernel/model/container-runtime.ts';
import { findContainerRuntimes } from '../kernel/os/container-runtimes.ts';
import { ownHome } from '../kernel/os/users.ts';
import type { Clock, Timer } from '../kernel/ports/clock.ts';

/** What a node says of them. */
export interface RuntimesFound {
  readonly runtimes: readonly ContainerRuntime[];
  readonly labels: readonly string[];
  readonly words: string;
}

/** A start of docker takes seconds, and each look a process for each runtime. */
const LOOK_MS = 30_000;

/** `jobPath`: that of the node's jobs. */
export async function lookForRuntimes(jobPath: string | undefined): Promise<RuntimesFound> {
  // As tasks do, who have no variable of the agent's.
  const as = { PATH: enginesPath(jobPath), HOME: ownHome() };
  const runtimes = await findContainerRuntimes(as);
  return { runtimes, labels: runtimeLabels(runtimes), words: runtimeWords(runtimes) };
}

export class RuntimesWatch {
  readonly #clock: Clock;
  readonly #onChange: (found: RuntimesFound) => void;
  readonly #jobPath: string | undefined;
  #found: RuntimesFound;
  #timer: Timer | null = null;
  #stopped = false;

  constructor(
    { clock, jobPath }: { readonly clock: Clock; readonly jobPath: string | undefined },
    found: RuntimesFound,
    onChange: (found: RuntimesFound) => void,
  ) {
    this.#clock = clock;
    this.#jobPath = jobPath;
    this.#found = found;
    this.#onChange = onChange;
    this.#wait();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #wait(): void {
    this.#timer = this.#clock.after(LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const found = await lookForRuntimes(this.#jobPath);
    if (this.#stopped) return;
    if (found.words !== this.#found.words) this.#onChange(found);
    this.#found = found;
    this.#wait();
  }
}
