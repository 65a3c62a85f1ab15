// The agents' options as their program reads them: JSON files, written 0600 by the command line.

import { readFileSync } from 'node:fs';
import type { AgentOptions as Options } from '../kernel/config/daemon-options.ts';

/** Everything an agent is told at its start. */
export type AgentOptions = Options;

/** Reads the files named as the program's arguments, one a node. Throws with words if it cannot. */
export function readAgentOptions(argv: readonly string[]): AgentOptions[] {
  if (argv.length === 0) throw new Error('usage: agent.ts OPTIONS.json [OPTIONS.json ...]');
  return argv.map((path) => JSON.parse(readFileSync(path, 'utf8')) as AgentOptions);
}
