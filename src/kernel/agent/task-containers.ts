// Containers of tasks. They run below their engine, in no group of their task: no signal reaches
// them, and what ends or stops the task has to be said to the engine too.

import {
  containerMark,
  containerName,
  ENGINES,
  type Engine,
  engineEndArgv,
  engineHoldArgv,
} from '../model/container-engine.ts';
import type { EpochId } from '../model/ids.ts';
import type { CommandEnd } from '../ports/commands.ts';
import type { UserAccount } from '../ports/users.ts';
import { type Epoch, exitOf, processesOf } from '../runner/epoch.ts';
import { enginesPath } from './environment.ts';
import { markOf, workDirectory } from './names.ts';
import type { AgentSettings, AllPorts } from './ports.ts';

const COMMAND_MS_MAX = 30_000;
const OUTPUT_LENGTH_MAX = 1000;
/** Waits between attempts; after the last the task ends, and the log names the container. */
const AGAIN_MS = [500, 1000, 2000, 4000, 8000, 16_000];

/** From here on it may be the engine that says how it went, and the script leaves its mark. */
const ENGINE_CODES = 125;

interface Container {
  readonly kind: Engine;
  readonly name: string;
  readonly epoch: Epoch;
}

export class TaskContainers {
  readonly #ports: AllPorts;
  readonly #settings: AgentSettings;
  /** What an engine was told last of each task: it hears one thing after the other. */
  readonly #said = new Map<EpochId, Promise<unknown>>();
  #stopped = false;

  constructor(ports: AllPorts, settings: AgentSettings) {
    this.#ports = ports;
    this.#settings = settings;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** Returns null when there is nothing to end. Else it takes bounded time, and never rejects. */
  end(epoch: Epoch): Promise<void> | null {
    const all = this.#of(epoch);
    if (all.length === 0) return null;
    const { epochId } = epoch.order;
    const before = this.#said.get(epochId);
    this.#said.delete(epochId);
    return Promise.resolve(before).then(async () => {
      for (const one of all) await this.#end(one);
    });
  }

  /** Like its processes: stopped, or going on. */
  hold(epoch: Epoch, how: 'pause' | 'unpause'): void {
    const { epochId } = epoch.order;
    for (const one of this.#of(epoch)) {
      const argv = engineHoldArgv(one.kind, one.name, how);
      const said = Promise.resolve(this.#said.get(epochId)).then(async () => {
        const { succeeded, output } = await this.#run(one, argv);
        // Most often it is so already: a task that is told to end is let go on too.
        const of = { epoch: epochId, container: one.name, output, how };
        if (!succeeded)
          this.#ports.log.debug(of, 'an engine did not stop a container or let it go on');
      });
      this.#said.set(epochId, said);
    }
  }

  #of(epoch: Epoch): Container[] {
    const { order } = epoch;
    if (this.#ports.commands === undefined) return [];
    const image = order.pool?.image;
    const ofWorker = image !== undefined && !endedWell(epoch) ? [image.kind] : [];
    const engines = order.batch === undefined ? ofWorker : this.#marked(epoch);
    return engines.flatMap((kind) =>
      processesOf(epoch).map(({ launchId }) => {
        return { kind, name: containerName(markOf(this.#settings, launchId)), epoch };
      }),
    );
  }

  /** A task of a batch says by a file that it has begun one. */
  #marked(epoch: Epoch): Engine[] {
    const directory = workDirectory(this.#settings, epoch.order.epochId);
    return ENGINES.filter((kind) => {
      const isMarked = this.#ports.files.size(`${directory}/${containerMark(kind)}`) !== null;
      return isMarked || mayHaveLost(epoch, containerMark(kind));
    });
  }

  async #end(container: Container): Promise<void> {
    const { kind, name, epoch } = container;
    const of = { epoch: epoch.order.epochId, container: name };
    for (const waitMs of [...AGAIN_MS, null]) {
      const { succeeded, output } = await this.#run(container, engineEndArgv(kind, name));
      if (succeeded || /no such container|no container with/i.test(output) || this.#stopped) return;
      if (waitMs === null) {
        this.#ports.log.error(
          { ...of, output },
          'a container may be left: its engine does not end it',
        );
        return;
      }
      this.#ports.log.warn({ ...of, output }, 'a container could not be ended; retrying');
      await new Promise<void>((resolve) => this.#ports.clock.after(waitMs, resolve));
    }
  }

  async #run({ epoch }: Container, argv: readonly string[]): Promise<CommandEnd> {
    const { commands, users } = this.#ports;
    const { switchUser } = this.#settings;
    const { user } = epoch.order.account;
    const said = { succeeded: false, code: null, errors: '', isThere: () => false };
    const nobody = (how: string) => ({ ...said, how, output: how });
    if (commands === undefined) return nobody('no commands');
    try {
      const account = switchUser ? await users.find(user) : users.self();
      if (account === null) return nobody(`there is no user ${user}`);
      const { uid, gid, groups } = account;
      return await commands.run({
        argv,
        environment: environmentOf(account, this.#settings),
        isBare: true,
        // Podman refuses to work in a directory that its user may not enter, as the agent's may be.
        directory: '/',
        timeoutMs: COMMAND_MS_MAX,
        keep: { part: 'last', length: OUTPUT_LENGTH_MAX },
        // The user's own settings say which daemon is asked, and how: never with the agent's
        // rights.
        ...(switchUser ? { user: { uid, gid, groups } } : {}),
      });
    } catch (error) {
      return nobody(`cannot look up ${user}: ${String(error)}`);
    }
  }
}

/** The mark is a file that a job can remove: it counts as gone only where its script ended well. */
function mayHaveLost(epoch: Epoch, mark: string): boolean {
  const { program } = epoch.order;
  if (program.kind !== 'script' || !program.text.includes(mark)) return false;
  return !endedWell(epoch);
}

/** True when the task's script has seen the container end. */
function endedWell(epoch: Epoch): boolean {
  return processesOf(epoch).every((process) => {
    const code = exitOf(process)?.code;
    return code !== undefined && code < ENGINE_CODES;
  });
}

/** That of tasks, not of this program: by it an engine is found, and its containers. */
function environmentOf(
  { home, name }: UserAccount,
  { jobPath }: AgentSettings,
): Record<string, string> {
  return { PATH: enginesPath(jobPath), HOME: home, USER: name, LOGNAME: name };
}
