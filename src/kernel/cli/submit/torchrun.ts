// `--torchrun`: a Python script that runs as one process for each gpu of each node, which find each
// other. PyTorch's own launcher starts them, on each node what that one needs.

import path from 'node:path';
import { usage } from '../../model/failure.ts';
import type { Program } from '../../model/job.ts';

/**
 * Nodes of `weft up` have names that nobody else knows, and are on one machine. The port is the
 * same on all nodes, and another one for each start.
 */
const LINE = `
gpus=$(printf %s "\${WEFT_GPUS:-}" | tr ',' '\\n' | grep -c .)
first=$(head -n 1 "$WEFT_HOSTFILE")
getent hosts "$first" > /dev/null 2>&1 || first=127.0.0.1
exec torchrun --nnodes "$WEFT_NODE_COUNT" --node-rank "$WEFT_NODE_RANK" \\
  --nproc-per-node "$((gpus > 0 ? gpus : 1))" --master-addr "$first" \\
  --master-port "$((20000 + (WEFT_JOB_ID * 97 + WEFT_EPOCH) % 12000))" "$@"
`.trim();

export interface Torchrun {
  readonly program: Program;
  readonly name: string;
}

/** `words`: the script with its arguments, perhaps after options of torchrun itself. */
export function torchrunOf(words: readonly string[]): Torchrun {
  const script = words.find((word) => !word.startsWith('-'));
  if (script === undefined || /\s/.test(script)) {
    throw usage('--torchrun takes a script with its arguments: weft run --torchrun -- train.py');
  }
  if (/^(.*\/)?python[\d.]*$/.test(script)) {
    throw usage(`--torchrun starts ${script} by itself: weft run --torchrun -- train.py`);
  }
  return {
    program: { kind: 'argv', argv: ['/bin/sh', '-c', LINE, 'torchrun', ...words] },
    name: path.basename(script),
  };
}
