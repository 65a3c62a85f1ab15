// All batches.

import { useCall } from '../../../kernel/page/data/query.ts';
import { hrefOf } from '../../../kernel/page/data/route.ts';
import { Command, Empty, Loaded, Span, State, Time } from '../../../kernel/page/parts/basic.tsx';
import { isOfBatches } from './events.ts';
import { Progress } from './progress.tsx';
import '../api/paths.ts';

export function Batches() {
  const batches = useCall('listBatches', {}, { when: isOfBatches });
  return (
    <div class="page">
      <div class="title">
        <h1>Batches</h1>
        <Command text="weft batch list --all" />
      </div>
      <Loaded answer={batches}>
        {({ batches: all }) =>
          all.length === 0 ? (
            <Empty>
              No batch yet. Describe jobs and their files in <code>weft.batch.yaml</code>, then{' '}
              <Command text="weft batch submit weft.batch.yaml" />
            </Empty>
          ) : (
            <table class="plain">
              <thead>
                <tr>
                  <th>Batch</th>
                  <th>State</th>
                  <th>Progress</th>
                  <th class="spare">User</th>
                  <th class="spare">Submitted</th>
                  <th class="number spare">Time</th>
                </tr>
              </thead>
              <tbody>
                {all.map((batch) => (
                  <tr key={batch.title}>
                    <td>
                      <a href={hrefOf(['batches', ...batch.title.split('/')])}>{batch.title}</a>
                    </td>
                    <td>
                      <State word={batch.outcome ?? batch.state} />
                    </td>
                    <td class="progress-cell">
                      <Progress batch={batch} />
                    </td>
                    <td class="spare">{batch.owner}</td>
                    <td class="spare">
                      <Time at={batch.createdAt} />
                    </td>
                    <td class="number spare">
                      <Span from={batch.createdAt} until={batch.endedAt} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Loaded>
    </div>
  );
}
