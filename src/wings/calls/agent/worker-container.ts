// A worker of a pool in a container: the script that its task runs in place of the worker's
// program. The container has the image's files and Node, and of the node Weft's own code, the
// working directory, the network and the way to the head.

import { enginesPath } from '../../../kernel/agent/environment.ts';
import { quoteWord } from '../../../kernel/base/shell-word.ts';
import {
  type ContainerImage,
  containerName,
  type Engine,
  engineLimits,
  engineUser,
} from '../../../kernel/model/container-engine.ts';
import type { Share } from '../../../kernel/model/orders.ts';

/** How workers of pools start on a node, and where they find the head. */
export interface WorkerSettings {
  /** A program of one word. */
  readonly program: string;
  /** For a Node that is somewhere else, which finds the file in this folder: in a container. */
  readonly elsewhere: { readonly argv: readonly string[]; readonly folder: string };
  /** The same place that the agent itself dials. */
  readonly head:
    | { readonly url: string; readonly others?: readonly string[]; readonly fingerprint?: string }
    | { readonly socketPath: string };
}

export interface ContainedWorker {
  readonly image: ContainerImage;
  /** The worker's WEFT_LAUNCH, by which its container is found and ended. */
  readonly mark: string;
  readonly directory: string;
  /** `NAME=value`, as a process on the node would have it. */
  readonly environment: readonly string[];
  readonly workers: WorkerSettings;
  readonly share: Share;
}

/** What is about this machine, and other in a container. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set([
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'OLDPWD', 'TMPDIR', 'HOSTNAME'],
  ...['LD_LIBRARY_PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'XDG_CACHE_HOME', 'XDG_RUNTIME_DIR'],
  ...['WEFT_CPUSET', 'WEFT_HOSTFILE', 'WEFT_HOSTFILE_SLOTS'],
]);
/** Prefix of the script's own variables: no job can set one that begins so. */
const OURS = 'WEFT_LIMIT_';
/** A name that a shell and the engines read as one. */
const VARIABLE = /^[A-Za-z_]\w*$/;

export function workerInContainer(worker: ContainedWorker): string[] {
  return ['/bin/sh', '-c', scriptOf(worker)];
}

/** The client passes signals on; the shell has to be there when it is gone. */
function scriptOf({ image, mark, workers, share, ...of }: ContainedWorker): string {
  const { kind } = image;
  const name = containerName(mark);
  const { cpuCount, memoryBytes } = share.resources;
  const words = [
    ...[kind, 'run', '--rm', '--init', '--name', name, '--network', 'host'],
    // Elsewhere than with SELinux it does nothing; there the folders could not be read.
    ...['--security-opt', 'label=disable', '--entrypoint', 'node', '--workdir', of.directory],
    ...mountsOf(of.directory, workers),
    ...(share.gpus.length > 0 ? gpuWords(kind, of.environment) : []),
    ...passedOn(of.environment).flatMap((variable) => ['--env', variable]),
  ];
  return `# A worker of a pool in a container, which ends with it.
PATH=$PATH:${enginesPath()}
unset TMPDIR
trap : HUP INT QUIT USR1 USR2 ALRM TERM
${OURS}cpus=${cpuCount === 0 ? '$(getconf _NPROCESSORS_ONLN)' : cpuCount} ${OURS}memory=${memoryBytes}
set -- ${lineOf([image.name, ...workers.elsewhere.argv])}
${engineLimits(kind, OURS)}
${lineOf(words)} --user "${engineUser(kind)}" "$@"
${OURS}code=$?
# From 125 on it may be the client alone that has ended.
[ "$${OURS}code" -lt 125 ] || ${lineOf([kind, 'rm', '--force', name])} > /dev/null 2>&1
exit "$${OURS}code"
`;
}

/** Those of the task alone: by uuid where the node knows its cards, else by number. */
function gpuWords(kind: Engine, environment: readonly string[]): string[] {
  const value = (name: string): string =>
    environment.find((entry) => entry.startsWith(`${name}=`))?.slice(name.length + 1) ?? '';
  const gpus = value('WEFT_GPU_UUIDS') || value('WEFT_GPUS');
  if (kind === 'docker') return ['--gpus', `"device=${gpus}"`];
  return gpus.split(',').flatMap((gpu) => ['--device', `nvidia.com/gpu=${gpu}`]);
}

/** One that is both is for the worker to write to. */
function mountsOf(directory: string, { elsewhere, head }: WorkerSettings): string[] {
  const read = [elsewhere.folder, ...('socketPath' in head ? [folderOf(head.socketPath)] : [])];
  const others = [...new Set(read)].filter((folder) => folder !== directory);
  return [`${directory}:${directory}`, ...others.map((folder) => `${folder}:${folder}:ro`)].flatMap(
    (mount) => ['--volume', mount],
  );
}

/** A head that is started again makes its socket anew: the file itself would be the old one. */
function folderOf(socketPath: string): string {
  return socketPath.slice(0, socketPath.lastIndexOf('/')) || '/';
}

/** By name alone (E1): what they hold is on no command line. */
function passedOn(environment: readonly string[]): string[] {
  return environment.flatMap((entry) => {
    const name = entry.slice(0, entry.indexOf('='));
    return VARIABLE.test(name) && !OF_THE_MACHINE.has(name) ? [name] : [];
  });
}

function lineOf(words: readonly string[]): string {
  return words.map(quoteWord).join(' ');
}
