// Docker and podman of a test's own: their images and containers are gone when the test is over.
// The control group that podman keeps for all of its containers stays: other tests may use it.
// Needs root, docker.io, podman, catatonit and busybox-static.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  openSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { missingPackages } from '../../../tools/debian-packages.ts';
import { DockerDaemon, removeGroups, whyNoDocker } from './docker-daemon.ts';
import { makeBaseFolder } from './docker-image.ts';
import { type Host, until } from './hosts.ts';
import { cleanEnvironment, runProgram, type Said } from './local-cluster.ts';

/** Why they cannot be tested here, or false. Never a reason in CI: there it must work. */
export function whyNoEngines(): string | false {
  const why = whyNoDocker();
  if (why !== false || process.env['CI'] === 'true') return why;
  const missing = missingPackages(['e2e']).map(({ name }) => name);
  const lacking = ['podman', 'catatonit'].filter((name) => missing.includes(name));
  return lacking.length > 0 && `needs ${lacking.join(', ')}`;
}

export type Kind = 'docker' | 'podman';

export interface Engine {
  readonly kind: Kind;
  /** With it its own commands and those of Weft find it. */
  readonly env: NodeJS.ProcessEnv;
  /** Before its own words: where it is. */
  readonly enter?: (argv: readonly string[]) => string[];
}

/** One that this test has started on its own machine. */
export interface OwnEngine extends Engine {
  close(): Promise<void>;
}

/**
 * Where no crun can be, and limits of processes cannot be raised; no network, which jobs need none
 * of.
 */
const PODMAN_CONFIGURATION = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
netns = "none"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`;

export async function startDocker(directory: string): Promise<OwnEngine> {
  mkdirSync(directory, { recursive: true });
  const daemon = await DockerDaemon.start(directory);
  const env = cleanEnvironment(daemon.environment);
  return { kind: 'docker', env, close: () => daemon.stop() };
}

export function startPodman(directory: string): OwnEngine {
  const at = (name: string): string => join(directory, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(at('containers.conf'), PODMAN_CONFIGURATION);
  const storage = `driver = "overlay"\ngraphroot = "${at('root')}"\nrunroot = "${at('run')}"\n`;
  writeFileSync(at('storage.conf'), `[storage]\n${storage}`);
  const files = {
    CONTAINERS_CONF: at('containers.conf'),
    CONTAINERS_STORAGE_CONF: at('storage.conf'),
  };
  const env = cleanEnvironment(files);
  const close = async (): Promise<void> => {
    await runProgram(['podman', 'rm', '--force', '--all', '--time', '0'], { env });
    await runProgram(['umount', '-l', at('root/overlay')], { env });
  };
  return { kind: 'podman', env, close };
}

/** What its command says; rejects when it fails. */
export async function ask({ kind, env, enter }: Engine, ...args: string[]): Promise<string> {
  const argv = [kind, ...args];
  const { code, out, error }: Said = await runProgram(enter?.(argv) ?? argv, { env });
  if (code !== 0) throw new Error(`${kind} ${args.join(' ')}: ${out}${error}`);
  return out.trim();
}

/** Names of all containers, running or not. */
export async function containers(engine: Engine): Promise<string[]> {
  const names = await ask(engine, 'ps', '--all', '--format', '{{.Names}}');
  return names.split('\n').filter((name) => name !== '');
}

const SHELL = ['sh', 'cat', 'cp', 'echo', 'id', 'pwd', 'sleep', 'touch', 'true'];

/** An image of this program and busybox, as the archive that `save` of the engine writes. */
export async function saveImage(
  engine: Engine,
  { folder, program, name }: { folder: string; program: string; name: string },
): Promise<string> {
  const root = join(folder, `${engine.kind}-root`);
  mkdirSync(join(root, 'bin'), { recursive: true });
  mkdirSync(join(root, 'srv'));
  copyFileSync('/bin/busybox', join(root, 'bin/busybox'));
  for (const applet of SHELL) symlinkSync('busybox', join(root, 'bin', applet));
  writeFileSync(join(root, 'solve'), program);
  chmodSync(join(root, 'solve'), 0o755);
  const tar = `${root}.tar`;
  execFileSync('tar', ['-C', root, '-cf', tar, '.']);
  const changes = ['ENTRYPOINT ["/solve"]', 'WORKDIR /srv'].flatMap((line) => ['--change', line]);
  await ask(engine, 'import', ...changes, tar, name);
  const archive = join(folder, `${engine.kind}.tar`);
  await ask(engine, 'save', '--output', archive, name);
  await ask(engine, 'rmi', name);
  return archive;
}

/** A file that is in the image of `importNode` alone. */
export const OF_IMAGE = '/srv/of-the-image';

/** Makes an image that has Node, and no Weft. */
export async function importNode(engine: Engine, folder: string, name: string): Promise<void> {
  const root = join(folder, `${engine.kind}-node`);
  makeBaseFolder(root);
  mkdirSync(join(root, 'srv'));
  writeFileSync(join(root, OF_IMAGE), '');
  const tar = `${root}.tar`;
  execFileSync('tar', ['-C', root, '-cf', tar, '.']);
  await ask(engine, 'import', tar, name);
}

/** A user of this machine without rights, whose group is that of the same number. */
export const NOBODY = 65_534;

/**
 * How that user runs programs with this engine: docker is its daemon, podman has a place of the
 * user's.
 */
export function asNobody(
  { kind, env }: Engine,
  directory: string,
): { readonly enter: string[]; readonly env: NodeJS.ProcessEnv; close(): Promise<void> } {
  const home = join(directory, 'nobody');
  mkdirSync(home);
  const at = (name: string): string => join(home, name);
  const storage = `driver = "overlay"\ngraphroot = "${at('root')}"\nrunroot = "${at('run')}"\n`;
  writeFileSync(at('storage.conf'), `[storage]\n${storage}`);
  execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, home]);
  const isDocker = kind === 'docker';
  const groups = isDocker ? ['--groups', String(statSync(socketOf(env)).gid)] : ['--clear-groups'];
  const enter = ['setpriv', '--reuid', String(NOBODY), '--regid', String(NOBODY), ...groups];
  const own = isDocker ? {} : { CONTAINERS_STORAGE_CONF: at('storage.conf') };
  const all = { ...env, HOME: home, XDG_RUNTIME_DIR: home, ...own };
  const close = async (): Promise<void> => {
    // The process that keeps its namespace.
    if (!isDocker) await runProgram([...enter, 'podman', 'system', 'migrate'], { env: all });
  };
  return { enter, env: all, close };
}

function socketOf({ DOCKER_HOST = '' }: NodeJS.ProcessEnv): string {
  return DOCKER_HOST.replace('unix://', '');
}

/**
 * Engines at their usual places, each on a host of its own: there is nothing of theirs on the
 * others.
 */
export class HostEngines {
  readonly #group = `weft-test-${process.pid}`;

  /** What this machine has of them is hidden on the host, which then has this one; null: none. */
  async prepare(host: Host, kind: Kind | null, directory: string): Promise<void> {
    const root = join(directory, `engine-of-${host.name}`);
    mkdirSync(root);
    writeFileSync(join(root, 'containers.conf'), PODMAN_CONFIGURATION);
    const storage = 'driver = "overlay"\ngraphroot = "/run/graph"\nrunroot = "/run/containers"\n';
    writeFileSync(join(root, 'storage.conf'), `[storage]\n${storage}`);
    // Not executable, and so not there.
    writeFileSync(join(root, 'nothing'), '');
    const hide = kind === 'podman' ? ':' : `mount --bind ${root}/nothing /usr/bin/podman`;
    const configure = `cp -a /etc/containers/. ${root}/ && mount --bind ${root} /etc/containers`;
    await this.#run(host, `mount -t tmpfs t /run && mount -t tmpfs t /dev/shm && ${hide}`);
    if (kind === 'podman') await this.#run(host, configure);
    if (kind === 'docker') await this.#startDocker(host, join(root, 'dockerd.log'));
  }

  async #startDocker(host: Host, file: string): Promise<void> {
    const options = ['--data-root', '/run/docker-data', '--cgroup-parent', `/${this.#group}`];
    const log = openSync(file, 'a');
    await host.start('dockerd', options, { stdout: log, stderr: log });
    await until('docker answers', async () => {
      const { code } = await runProgram(host.enter(['docker', 'version']));
      return code === 0 || undefined;
    });
  }

  /** The one that people there find. */
  engine(host: Host, kind: Kind): Engine {
    return { kind, env: cleanEnvironment(), enter: (argv) => host.enter(argv) };
  }

  /** When the hosts are off. */
  async close(): Promise<void> {
    await removeGroups(this.#group);
  }

  async #run(host: Host, line: string): Promise<void> {
    const { code, error } = await runProgram(host.enter(['sh', '-c', line]));
    if (code !== 0) throw new Error(`${host.name}: ${line}: ${error}`);
  }
}
