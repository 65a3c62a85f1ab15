// What the makers of pages share: the commands without a terminal, and the programs of the seed.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { buildVerbs, type Invocation } from '../../src/kernel/cli/main.ts';
import type { WingProgram } from '../../src/kernel/cli/part.ts';
import { WINGS } from '../../src/wings.ts';
import { ROOT } from '../tree.ts';

/** What is installed: a page of a program that is not would hide that of another system. */
const INSTALLED: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(path.join(ROOT, 'package.json'), 'utf8'),
).bin;

/**
 * Programs of wings that are installed, by name: those that are one command each, and those of
 * several.
 */
export async function wingPrograms() {
  const singles: [name: string, program: Extract<WingProgram, { verb: unknown }>][] = [];
  const commands: Command[] = [];
  for (const { cli } of WINGS) {
    for (const [name, load] of Object.entries(cli?.programs ?? {})) {
      if (!(name in INSTALLED)) continue;
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
    endMarked: () => Promise.reject(new Error('pages are made without a machine')),
    detectMachine: () => Promise.reject(new Error('pages are made without a machine')),
    findContainerRuntimes: () => Promise.resolve([]),
    readStore: () => Promise.reject(new Error('pages are made without a machine')),
    readJournals: async () => [],
  },
  wings: WINGS,
};
