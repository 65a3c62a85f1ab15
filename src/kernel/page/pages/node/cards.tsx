// The gpus of a node: what each is, how it is, and who has it.

import type { NodeView } from '../../../api/nodes.ts';
import { fenceWords } from '../../../model/device.ts';
import { shortUuid } from '../../../model/gpu.ts';
import { now } from '../../data/clock.ts';
import { hrefOf } from '../../data/route.ts';
import { Panel } from '../../parts/basic.tsx';
import { cardWords, jobOfTask } from '../../pure/cards.ts';
import { ownClock, sizeWords } from '../../pure/words.ts';

export function Cards({ gpus }: { gpus: NonNullable<NodeView['gpus']> }) {
  if (gpus.cards.length === 0 && gpus.remark === null) return null;
  return (
    <Panel title="Gpus" wide>
      {gpus.remark && <p class="notice">{ownClock(gpus.remark, now.value)}</p>}
      <table class="plain">
        <thead>
          <tr>
            <th class="number">Gpu</th>
            <th>Type</th>
            <th class="number">Memory</th>
            <th class="spare">Uuid</th>
            <th>State</th>
            <th>Task</th>
          </tr>
        </thead>
        <tbody>
          {gpus.cards.map((card) => (
            <tr key={card.uuid}>
              <td class="number">{card.label}</td>
              <td title={card.name}>{card.type}</td>
              <td class="number">{card.memoryBytes === null ? '' : sizeWords(card.memoryBytes)}</td>
              <td class="spare" title={card.uuid}>
                {shortUuid(card.uuid)}
              </td>
              <td>
                {ownClock(cardWords(card), now.value)}
                {(card.over ?? []).map(({ task, memoryBytes }) => (
                  <div key={task} class="faint">
                    {task} uses {sizeWords(memoryBytes)}, more than its share
                  </div>
                ))}
              </td>
              <td>
                {card.tasks.map((task) => (
                  <a key={task} href={hrefOf(['jobs', jobOfTask(task)])}>
                    {task}
                  </a>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {gpus.driver && <p class="faint">Driver: {gpus.driver}</p>}
      {gpus.fence && <p class="faint">Fence: {fenceWords(gpus.fence)}</p>}
    </Panel>
  );
}
