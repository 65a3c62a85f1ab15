// What the makers of pages share: the commands without a terminal, and the programs of the seed.

import type { Command } from 'commander';
import { buildVerbs, type Invocation } from '../../src/kernel/cli/main.ts';
import type { WingProgram } from '../../src/kernel/cli/part.ts';
import { WINGS } from '../../src/wings.ts';

/** Programs of wings by name: those that are one command each, and those of several. */
export async function wingPrograms() {
  const singles: [name: string, program: Extract<WingProgram, { verb: unknown }>][] = [];
  const commands: Command[] = [];
  for (const { cli } of WINGS) {
    for (const [name, load] of Object.entries(cli?.programs ?? {})) {
      const program = await load();
      if ('verb' in program) singles.push([name, program]);
      else commands.push(buildVerbs({ ...SILENT, program: name }, { exitCode: 0 }, program));
    }
  }
  return { singles, commands };
}

/** Options of every command, explained once. */
export const COMMON = new Set(['--dir', '--head', '--fingerprint', '--token-file', '--config']);

/** Prints nothing and starts nothing. */
export const SILENT: Invocation = {
  program: 'weft',
  argv: [],
  terminal: {
    out: () => undefined,
    error: () => undefined,
    outIsTerminal: false,
    errorIsTerminal: false,
  },
  environment: {},
  cwd: '/',
  programs: {
    headScript: '',
    agentScript: '',
    runHead: () => Promise.resolve(),
    runAgent: () => Promise.resolve(),
    machineIdentity: () => Promise.reject(new Error('pages are made without a machine')),
    endCarriers: () => Promise.reject(new Error('pages are made without a machine')),
    detectMachine: () => Promise.reject(new Error('pages are made without a machine')),
    findContainerRuntimes: () => Promise.resolve([]),
  },
  wings: WINGS,
};
