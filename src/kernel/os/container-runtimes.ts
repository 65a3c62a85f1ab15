// Which container runtimes this machine has, and whether they answer.

import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { ContainerRuntime, Whereabouts } from '../ports/container-runtimes.ts';
import { systemCommands } from './commands.ts';

interface Question {
  readonly name: string;
  /** What it needs is there when it answers. Nothing: that it is there says enough. */
  readonly question: readonly string[];
}

const RUNTIMES: readonly Question[] = [
  { name: 'apptainer', question: [] },
  { name: 'singularity', question: [] },
  // The version of its daemon: the program alone runs nothing.
  { name: 'docker', question: ['version', '--format', '{{.Server.Version}}'] },
  // The command fails where `podman info` fails, and saves a fifth of a second of CPU time: `info`
  // asks dpkg which packages its helpers are from.
  { name: 'podman', question: ['version', '--format', '{{.Client.Version}}'] },
];

/** A daemon that hangs must not keep the node from joining. */
const TIMEOUT_MS = 10_000;
const OUTPUT_LENGTH_MAX = 2000;
/** Characters of what goes to the head with every registration. */
const PROBLEM_LENGTH_MAX = 200;

/** Those that this program finds; `as`: one that has these variables, and no other of ours. */
export async function findContainerRuntimes(as: Whereabouts | null): Promise<ContainerRuntime[]> {
  const there = RUNTIMES.filter(({ name }) => isOnPath(name, as?.PATH));
  return Promise.all(there.map((runtime) => ask(runtime, as)));
}

async function ask(
  { name, question }: Question,
  as: Whereabouts | null,
): Promise<ContainerRuntime> {
  if (question.length === 0) return { name, version: '', problem: null };
  const { succeeded, how, output } = await systemCommands.run({
    argv: [name, ...question],
    ...(as === null ? {} : { environment: { PATH: as.PATH, HOME: as.HOME }, isBare: true }),
    timeoutMs: TIMEOUT_MS,
    keep: { part: 'last', length: OUTPUT_LENGTH_MAX },
  });
  const said = linesOf(output);
  // Among warnings, in any order.
  const version = said.find((line) => /^v?\d/.test(line)) ?? '';
  if (succeeded) return { name, version, problem: null };
  return { name, version: '', problem: (said.at(-1) ?? how).slice(0, PROBLEM_LENGTH_MAX) };
}

function linesOf(output: string): string[] {
  return output.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}

export function isOnPath(program: string, path = process.env['PATH'] ?? ''): boolean {
  return path.split(':').some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false; // Not in this folder.
    }
  });
}
