// The schedule as a table, for who does not see it drawn.

import { useMemo } from 'preact/hooks';
import type { ReplyOf } from '../../../api/routes.ts';
import { hrefOf } from '../../data/route.ts';
import { State, Time } from '../../parts/basic.tsx';
import { some } from '../../pure/words.ts';

const ROWS_SPOKEN = 100;

/** What runs and comes next, as a table. */
export function Spoken({ bars }: { bars: ReplyOf<'schedule'>['bars'] }) {
  // Every move of the pointer draws the page anew.
  const next = useMemo(
    () =>
      bars
        .filter(({ kind }) => kind !== 'past')
        .sort((one, other) => one.from - other.from)
        .slice(0, ROWS_SPOKEN),
    [bars],
  );
  return (
    <details>
      <summary>The same as a table: {some(next.length, 'task')} running or next</summary>
      <table class="plain">
        <thead>
          <tr>
            <th>Task</th>
            <th>State</th>
            <th>From</th>
            <th>Until at the latest</th>
            <th class="spare">Nodes</th>
          </tr>
        </thead>
        <tbody>
          {next.map((bar) => (
            <tr key={`${bar.id} ${bar.from}`}>
              <td>
                <a href={hrefOf(['jobs', bar.jobId])}>{bar.id}</a> <bdi>{bar.name}</bdi>
              </td>
              <td>
                <State word={bar.kind === 'planned' ? 'pending' : bar.word} />
              </td>
              <td>
                <Time at={bar.from} />
              </td>
              <td>
                <Time at={bar.until} none="no limit" />
              </td>
              <td class="spare">{bar.nodes.join(', ')}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
