// A container engine of this test's own: in a network namespace that ends with it, so that neither
// the machine's firewall nor its own engine is touched. Needs root, docker.io and iproute2.

import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { missingPackages } from '../../../tools/debian-packages.ts';
import { until } from './hosts.ts';

const NEEDED = ['docker.io', 'docker-compose', 'tini', 'busybox-static', 'iproute2', 'iptables'];
const CGROUPS = '/sys/fs/cgroup';
const OUTPUT_BYTES_MAX = 16 * 2 ** 20;

/** Why containers cannot be tested here, or false. Never a reason in CI: there it must work. */
export function whyNoDocker(): string | false {
  if (process.env['CI'] === 'true') return false;
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = missingPackages(['e2e']).map(({ name }) => name);
  const lacking = NEEDED.filter((name) => missing.includes(name));
  return lacking.length > 0 && `needs ${lacking.join(', ')}`;
}

/** What a command printed, and how it ended. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Where a command runs, and variables besides those of the engine. */
export interface Surroundings {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export class DockerDaemon {
  readonly environment: NodeJS.ProcessEnv;
  readonly #directory: string;
  readonly #cgroup = `weft-test-${process.pid}`;
  readonly #process: ChildProcess;

  private constructor(directory: string) {
    this.#directory = directory;
    this.environment = {
      ...process.env,
      DOCKER_HOST: `unix://${join(directory, 'docker.sock')}`,
      DOCKER_CONFIG: join(directory, 'config'),
      // The builder of Debian's engine; the other one is a package that Debian 12 lacks.
      DOCKER_BUILDKIT: '0',
      COMPOSE_DOCKER_CLI_BUILD: '0',
    };
    mkdirSync(join(directory, 'config'), { recursive: true });
    const log = openSync(join(directory, 'dockerd.log'), 'w');
    // exec all the way: the process that is started here is the engine itself, and it ends its
    // containers and itself when this test is killed.
    const start = 'ip link set lo up && exec dockerd "$@"';
    const enter = ['--pdeathsig', 'TERM', 'unshare', '-n', 'sh', '-c', start, 'dockerd'];
    this.#process = spawn('setpriv', [...enter, ...this.#options()], {
      stdio: ['ignore', log, log],
    });
    closeSync(log);
  }

  /** The words before a program that is to run in its network. */
  get inside(): readonly string[] {
    return ['nsenter', '-t', String(this.#process.pid), '-n', '--'];
  }

  /** Resolves when it answers; rejects with the end of its log. */
  static async start(directory: string): Promise<DockerDaemon> {
    const daemon = new DockerDaemon(directory);
    try {
      await until('the engine answers', async () => {
        if (daemon.#process.exitCode !== null) throw new Error('dockerd ended');
        return (await daemon.try('docker', ['version'])).code === 0 ? true : undefined;
      });
    } catch (error) {
      const log = readFileSync(join(directory, 'dockerd.log'), 'utf8').slice(-2000);
      await daemon.stop();
      throw new Error(`${String(error)}\n${log}`);
    }
    return daemon;
  }

  /** Standard output; rejects with what the command said when it fails. */
  async run(program: string, args: readonly string[], more: Surroundings = {}): Promise<string> {
    const { code, stdout, stderr } = await this.try(program, args, more);
    if (code === 0) return stdout;
    throw new Error(`${program} ${args.join(' ')} exited with ${code}\n${stdout}${stderr}`);
  }

  /** Rejects only when the program cannot be started. */
  try(program: string, args: readonly string[], { cwd, env }: Surroundings = {}): Promise<Ran> {
    const options = { cwd, env: { ...this.environment, ...env }, maxBuffer: OUTPUT_BYTES_MAX };
    return new Promise((resolve, reject) => {
      const child = execFile(program, [...args], options, (error, stdout, stderr) => {
        if (error !== null && typeof error.code !== 'number') reject(error);
        else resolve({ code: child.exitCode ?? 0, stdout, stderr });
      });
      child.stdin?.end();
    });
  }

  /** Makes an image of a folder. */
  async importFolder(folder: string, name: string): Promise<void> {
    await this.run('sh', ['-c', 'tar -C "$0" -c . | docker import - "$1"', folder, name]);
  }

  /** Ends the engine with all its containers, its mounts and its control groups. */
  async stop(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const gone = new Promise((resolve) => this.#process.once('exit', resolve));
      this.#process.kill('SIGTERM');
      await gone;
    }
    for (const mount of mountsBelow(this.#directory)) execFileSync('umount', ['-l', mount]);
    await removeGroups(this.#cgroup);
  }

  #options(): string[] {
    const at = (name: string): string => join(this.#directory, name);
    const places = ['--data-root', at('data'), '--exec-root', at('exec'), '-p', at('docker.pid')];
    const own = ['-H', `unix://${at('docker.sock')}`, '--cgroup-parent', `/${this.#cgroup}`];
    return [...places, ...own, '--storage-driver', 'overlay2'];
  }
}

/** All control groups of that name with those below them, once their processes have ended. */
export async function removeGroups(name: string): Promise<void> {
  const places = [CGROUPS, ...readdirSync(CGROUPS).map((controller) => join(CGROUPS, controller))];
  const areGone = (): boolean =>
    places.map((place) => removeGroup(join(place, name))).every(Boolean);
  await until('the control groups are empty', () => areGone() || undefined);
}

function mountsBelow(directory: string): string[] {
  const points = readFileSync('/proc/self/mounts', 'utf8').split('\n');
  const below = points.map((line) => line.split(' ')[1] ?? '');
  return below.filter((point) => point.startsWith(`${directory}/`)).reverse();
}

/**
 * False while a process in it has not quite ended. Deepest first; files in it belong to the kernel.
 */
function removeGroup(group: string): boolean {
  try {
    for (const entry of readdirSync(group, { withFileTypes: true })) {
      if (entry.isDirectory()) removeGroup(join(group, entry.name));
    }
    rmdirSync(group);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return true;
    if (code === 'EBUSY') return false;
    throw error;
  }
}
