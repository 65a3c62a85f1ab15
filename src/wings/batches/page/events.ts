// Events after which a batch may stand otherwise.

import type { LiveEvent } from '../../../kernel/page/data/live.ts';

export function isOfBatches({ kind }: LiveEvent): boolean {
  return /^(batch|task|job|part|build)/.test(kind);
}
