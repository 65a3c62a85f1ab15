// The site's fence command: bounded, and with the node's name put in.

import type { Fence } from '../ports/fence.ts';
import { runBounded } from './bounded-command.ts';

export interface FenceOptions {
  /** Program and arguments; `{node}` in any of them becomes the node's name. */
  readonly command: readonly string[];
  readonly timeoutMs: number;
}

/** Of the command's output, for the log. */
const TAIL_LENGTH = 500;

/** Exit code 0 is the only yes. */
export function systemFence({ command, timeoutMs }: FenceOptions): Fence {
  return {
    async run(node) {
      const { succeeded, how, output } = await runBounded({
        command: command.map((word) => word.replaceAll('{node}', node)),
        timeoutMs,
        keep: (kept, text) => `${kept}${text}`.slice(-TAIL_LENGTH),
      });
      return { off: succeeded, words: [how, output.trim()].filter(Boolean).join(': ') };
    },
  };
}
