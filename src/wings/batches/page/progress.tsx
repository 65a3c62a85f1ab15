// How many jobs of a batch are where, as one bar.

import { failedCount, toneOf } from '../../../kernel/page/pure/state.ts';
import { plainWord } from '../../../kernel/page/pure/words.ts';
import type { BatchView } from '../api/batches.ts';

export function Progress({ batch }: { batch: Pick<BatchView, 'jobCount' | 'open' | 'ended'> }) {
  const parts = Object.entries({ ...batch.ended, ...batch.open }).filter(([, count]) => count > 0);
  const failed = failedCount({ outcomeCounts: batch.ended });
  const words = parts.map(([word, count]) => `${count} ${plainWord(word)}`).join(', ');
  return (
    <span class="progress" title={words}>
      <span class="stack" role="img" aria-label={words}>
        {parts.map(([word, count]) => (
          <i
            key={word}
            class={word === 'pending' ? 'left' : toneOf(word)}
            style={{ flexGrow: String(count) }}
          />
        ))}
      </span>{' '}
      <span>
        {batch.ended.completed ?? 0}/{batch.jobCount}
        {failed > 0 && (
          <>
            , <span class="bad">{failed} failed</span>
          </>
        )}
      </span>
    </span>
  );
}
