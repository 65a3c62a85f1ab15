// The judge of a chaos run: pure, so that planted violations can show that it sees each kind.

import { Case } from './case.ts';
import type { Evidence, Verdict } from './evidence.ts';
import { judgeBooks } from './judge-books.ts';
import { judgeEnds } from './judge-ends.ts';
import { judgePlaces } from './judge-places.ts';
import { judgeRepeats } from './judge-repeats.ts';

export function judge(evidence: Evidence): Verdict {
  const all = new Case(evidence);
  judgeEnds(all);
  judgeRepeats(all);
  judgePlaces(all);
  judgeBooks(all);
  return { violations: all.violations, counted: all.counted };
}
