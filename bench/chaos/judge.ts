// The judge of a chaos run: pure, so that planted violations can show that it sees each kind.

import { Case } from './case.ts';
import type { Evidence, Verdict } from './evidence.ts';
import { judgeBesides } from './judge-besides.ts';
import { judgeBooks } from './judge-books.ts';
import { judgeCalls } from './judge-calls.ts';
import { judgeEnds } from './judge-ends.ts';
import { judgeLosses } from './judge-losses.ts';
import { judgePlaces } from './judge-places.ts';
import { judgeRepeats } from './judge-repeats.ts';
import { judgeSteps } from './judge-steps.ts';
import { judgeSite } from './site/judge.ts';

export function judge(evidence: Evidence): Verdict {
  const all = new Case(evidence);
  judgeEnds(all);
  judgeRepeats(all);
  judgePlaces(all);
  judgeBooks(all);
  judgeLosses(all);
  judgeBesides(all);
  judgeSteps(all);
  judgeCalls(all);
  judgeSite(all);
  return { violations: all.violations, counted: all.counted };
}
