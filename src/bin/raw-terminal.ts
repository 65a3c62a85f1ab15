// The streams and the terminal of this process, for commands that put another program in their place.

import type { RawTerminal } from '../kernel/cli/raw-terminal.ts';

export const standardRaw: RawTerminal = {
  out: (bytes) => written(process.stdout, bytes),
  error: (bytes) => written(process.stderr, bytes),
  size: () => {
    const { rows = 0, columns = 0 } = process.stdout;
    return { rows, columns };
  },
  onResize: (changed) => {
    process.stdout.on('resize', changed);
    return () => void process.stdout.off('resize', changed);
  },
  takeKeys: () => {
    process.stdin.setRawMode(true);
    // Node leaves it to the terminal to add a CR to each LF, which the terminal on the node has done
    // where it was wanted. What was there before comes back with the mode.
    // Not imported: hardly any command comes this way.
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
    return () => {
      if (!process.stdin.destroyed) process.stdin.setRawMode(false);
    };
  },
};

function written(stream: NodeJS.WriteStream, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    stream.write(bytes, () => resolve());
  });
}
