// A cluster on a machine with pretended gpus, by stand-ins for the tools of their drivers.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { CardView, NodeView } from '../../../src/kernel/api/nodes.ts';
import { type FakeCard, type FakeWorld, pidsFile } from '../../support/gpu/world.ts';
import { endNow } from '../../support/when-killed.ts';
import { until } from './hosts.ts';
import { LocalCluster, repository, runProgram, type Said, type Setting } from './local-cluster.ts';

const TOOLS = path.join(import.meta.dirname, '..', '..', 'support', 'gpu');
export const WORKSTATION = JSON.parse(
  readFileSync(path.join(TOOLS, 'scenarios', 'workstation.json'), 'utf8'),
) as FakeWorld & { readonly nvidia: readonly FakeCard[] };
/** Uuids of an rtx4090, an rtx3090 and an a6000 with twice their memory. */
export const [ONE, TWO, THREE] = WORKSTATION.nvidia.map(({ uuid }) => uuid) as [
  string,
  string,
  string,
];
export class GpuCluster extends LocalCluster {
  readonly #file = path.join(this.directory, 'gpus.json');

  constructor() {
    super({
      PATH: `${path.join(TOOLS, 'bin')}:${process.env['PATH']}`,
      WEFT_NODE_GPU_LOOK_EVERY: '1s',
      WEFT_NODE_GPU_FREE_AFTER: '2s',
    });
    this.env['FAKE_GPUS'] = this.#file;
  }

  /** At once: no tool sees half of it. */
  write(world: FakeWorld): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(world));
    renameSync(`${this.#file}.new`, this.#file);
  }

  /** Tools that hang are ended by nobody else before their time. */
  override async close(): Promise<void> {
    const file = pidsFile(this.#file);
    const pids = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
    for (const pid of pids.map(Number)) if (isTool(pid)) endNow(pid, 'SIGKILL');
    await super.close();
  }

  node(name = 'n1'): Promise<NodeView> {
    return this.client.call('GET', `/v1/nodes/${name}`);
  }

  async cards(name = 'n1'): Promise<readonly CardView[]> {
    return (await this.node(name)).gpus?.cards ?? [];
  }

  async states(name = 'n1'): Promise<string> {
    return (await this.cards(name)).map(({ state }) => state).join(' ');
  }

  /** Until the node's cards are in these states. */
  shows(states: string, name = 'n1'): Promise<true> {
    return until(`the cards are ${states}`, async () => {
      return (await this.states(name)) === states || undefined;
    });
  }
}

/** A cluster whose daemons see what a line of a shell mounts, for them alone. */
export class RemountedCluster extends GpuCluster {
  readonly #mount: string;

  constructor(mount: string) {
    super();
    this.#mount = mount;
  }

  override run(program: string, args: readonly string[], setting: Setting = {}): Promise<Said> {
    if (args[0] !== 'up') return super.run(program, args, setting);
    const line = `{ ${this.#mount}; } && exec "$@"`;
    const script = path.join(repository, 'bin', `${program}.mjs`);
    const argv = ['unshare', '-m', 'sh', '-c', line, 'sh', process.execPath, script, ...args];
    return runProgram(argv, { cwd: this.work, env: this.env, ...setting });
  }
}

/** Not another process that has its number by now. */
function isTool(pid: number): boolean {
  try {
    return /sleep|-smi\.ts/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false; // It has ended.
  }
}

/** Variables of gpus that a task finds, as `NAME=value` lines. */
export const SHOW = 'env | grep -E "^(WEFT_GPU|CUDA_|NVIDIA_)" | sort';
