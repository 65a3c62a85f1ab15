// What the configuration says of the health check, as an agent is told it.

import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { usage } from '../model/failure.ts';
import type { Config } from './config.ts';
import type { AgentOptions } from './daemon-options.ts';

/**
 * Nothing where the site has no check. Throws when its program cannot be run: told at the start,
 * not every minute as a fault of the node.
 */
export function healthOptions(config: Config): Pick<AgentOptions, 'health'> {
  const command = config.texts('health.command');
  if (command.length === 0) return {};
  const why = whyNotRunnable(command[0] as string);
  if (why !== null) throw usage(`health.command cannot be run: ${why}`);
  const timeoutMs = config.number('health.timeout');
  return { health: { command, timeoutMs, intervalMs: config.number('health.interval') } };
}

/** In words; null: it can be run. A name without a slash is looked for in PATH. */
export function whyNotRunnable(program: string): string | null {
  if (program.includes('/')) {
    if (!path.isAbsolute(program)) return `${program} is not an absolute path`;
    return whyNoProgram(program);
  }
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const isFound = folders.some((folder) => whyNoProgram(path.join(folder, program)) === null);
  return isFound ? null : `${program} is not found in PATH`;
}

function whyNoProgram(file: string): string | null {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile() ? null : `${file} is not a file`;
  } catch (error) {
    return (error as Error).message;
  }
}
