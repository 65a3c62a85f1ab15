// What a wing is to the kernel: what it contributes, by what the kernel asks for. A wing that
// contributes nothing of a kind leaves it out.

import type { CliWing } from './cli/part.ts';

export interface Wing extends CliWing {
  readonly name: string;
  /** Other wings that this one imports; no circle. */
  readonly needs: readonly string[];
}
