// Commands about nodes, as they are typed.

import { quoteWord } from '../../base/shell-word.ts';

export function drainCommand(node: string, reason: string): string {
  return `weft node drain ${node} --reason ${quoteWord(reason)}`;
}

/** An operator elsewhere asks the head with it; on its own machine it asks the node's agent. */
export function pauseCommand(node: string, duration: string): string {
  return `weft pause ${quoteWord(duration.trim())} --node ${node}`;
}

export function unpauseCommand(node: string): string {
  return `weft unpause --node ${node}`;
}

export function maintenanceCommand(
  node: string,
  of: { readonly duration: string; readonly running: string; readonly reason: string },
): string {
  const { duration, running, reason } = of;
  const options = `--now --duration ${quoteWord(duration.trim())} --running ${running} --reason ${quoteWord(reason)}`;
  return `weft maint node-off ${node} ${options}`;
}
