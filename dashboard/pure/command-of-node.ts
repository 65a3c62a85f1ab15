// Commands about nodes, as they are typed.

import { quoteWord } from '../../src/core/base/shell-word.ts';

export function drainCommand(node: string, reason: string): string {
  return `weft node drain ${node} --reason ${quoteWord(reason)}`;
}

export function maintenanceCommand(
  node: string,
  of: { readonly duration: string; readonly running: string; readonly reason: string },
): string {
  const { duration, running, reason } = of;
  const options = `--now --duration ${duration} --running ${running} --reason ${quoteWord(reason)}`;
  return `weft maint node-off ${node} ${options}`;
}
