// `--torchrun`: a Python script that runs as one process for each gpu of each node, which find each
// other. PyTorch's own launcher starts them, on each node what that one needs.

import path from 'node:path';
import { usage } from '../../model/failure.ts';
import type { Program } from '../../model/job.ts';
import { TORCHRUN } from '../../model/torchrun-line.ts';

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
    program: { kind: 'argv', argv: [...TORCHRUN, ...words] },
    name: path.basename(script),
  };
}
