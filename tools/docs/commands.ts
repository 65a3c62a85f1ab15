// What the makers of pages share: the commands without a terminal, and the programs of the seed.

import type { Command } from 'commander';
import { buildVerbs, type Invocation } from '../../src/kernel/cli/main.ts';
import * as cmconfigure from '../../src/wings/cm/cli/cmconfigure.ts';
import * as cmdaemon from '../../src/wings/cm/cli/cmdaemon.ts';
import * as cminfo from '../../src/wings/cm/cli/cminfo.ts';
import * as cmkill from '../../src/wings/cm/cli/cmkill.ts';
import * as cmrun from '../../src/wings/cm/cli/cmrun.ts';
import { distribute } from '../../src/wings/distribute/cli/distribute.ts';
import { WINGS } from '../../src/wings.ts';

/** Programs that are one command each. */
export const SEED_PROGRAMS = { cminfo, cmrun, cmkill, cmconfigure, cmdaemon };

/** The program of several verbs that is not `weft`. */
export function distributeCommand(): Command {
  return buildVerbs({ ...SILENT, program: 'distribute' }, { exitCode: 0 }, distribute);
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
