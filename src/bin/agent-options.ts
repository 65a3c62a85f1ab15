// The agent's options as its program reads them: a JSON file, written 0600 by the command line.

import { readFileSync } from 'node:fs';
import type { AgentOptions as Options } from '../cli/daemons/daemon-options.ts';

/** Everything an agent is told at its start. */
export type AgentOptions = Options;

/** Reads the file named as the program's only argument. Throws with words when it cannot. */
export function readAgentOptions(argv: readonly string[]): AgentOptions {
  const [path] = argv;
  if (path === undefined) throw new Error('usage: agent.ts OPTIONS.json');
  return JSON.parse(readFileSync(path, 'utf8')) as AgentOptions;
}
