// Containers of a local run: its image, its jobs, and the end of what was left running.

import { spawn } from 'node:child_process';
import { quoteWord } from '../../../../kernel/base/shell-word.ts';
import { type Engine, engineEndArgv } from '../../../../kernel/model/container-engine.ts';
import type { EngineSolver } from '../../core/containers.ts';
import { containerFunctions, type Given, imageFunctions } from '../../core/engine-script.ts';

export interface ContainerName {
  readonly kind: Engine;
  readonly name: string;
}

/** An engine that hangs must not keep the results from being kept. */
const END_MS_MAX = 30_000;

/** Leaves the number of the image in the file `image` of the store. */
export function imageScript(
  solver: EngineSolver,
  { store, archive }: { readonly store: string; readonly archive: string | null },
): string {
  return `set -u
store=${quoteWord(store)}
archive=${quoteWord(archive ?? '')}
${imageFunctions(solver)}
known_image || make_image || exit
echo "$image" > "$store/image"
`;
}

interface OneContainer {
  readonly image: string;
  readonly name: string;
  readonly cpuCount: number;
  readonly memoryBytes: number | null;
}

/**
 * The script of a container: its arguments are the job's; descriptor 3 tells it when its starter is
 * gone.
 */
export function containerScript(solver: EngineSolver, of: OneContainer, given: Given): string {
  const end = engineEndArgv(solver.kind, of.name).map(quoteWord).join(' ');
  return `set -u
work=$PWD
image=${quoteWord(of.image)}
name=${of.name}
cpus=${of.cpuCount}
memory=${of.memoryBytes ?? 0}
${containerFunctions(solver, given)}
{ cat; ${end}; } <&3 > /dev/null 2>&1 &
exec 3<&-
in_container "$@"
`;
}

/** Resolves also when it cannot be: then there is no engine that could run it. */
export function endContainer({ kind, name }: ContainerName): Promise<void> {
  const [program = '', ...args] = engineEndArgv(kind, name);
  const child = spawn(program, args, { stdio: 'ignore', timeout: END_MS_MAX });
  return new Promise((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}
