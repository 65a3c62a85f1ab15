// One node: how it is, what runs on it, and what operators do with it.

import { useContext } from 'preact/hooks';
import { gpusInUse } from '../../../api/gpus-in-use.ts';
import type { NodeView } from '../../../api/nodes.ts';
import { fenceWords } from '../../../model/device.ts';
import { shortUuid } from '../../../model/gpu.ts';
import { labelsForPeople } from '../../../model/own-labels.ts';
import { now } from '../../data/clock.ts';
import { useCall } from '../../data/query.ts';
import { hrefOf } from '../../data/route.ts';
import { isOperator } from '../../data/session.ts';
import { Added } from '../../parts/added.ts';
import {
  Bar,
  Command,
  Empty,
  Loaded,
  NodeState,
  Panel,
  Span,
  State,
  Time,
} from '../../parts/basic.tsx';
import { cardWords, jobOfTask } from '../../pure/cards.ts';
import { nodeWord } from '../../pure/state.ts';
import { ownClock, sizeWords, some } from '../../pure/words.ts';
import { Care } from './care.tsx';

const EVERY_MS = 10_000;
const PAST_MS = 24 * 3_600_000;
const PAST_ROWS = 50;
/** Many pages may be open. */
const TOGETHER_MS = 2000;

export function Node({ name }: { name: string }) {
  const node = useCall('getNode', { params: { name } }, { everyMs: EVERY_MS });
  return (
    <div class="page">
      <Loaded answer={node}>{(value) => <Shown node={value} />}</Loaded>
    </div>
  );
}

function Shown({ node }: { node: NodeView }) {
  const added = useContext(Added);
  return (
    <>
      <div class="title">
        <h1>Node {node.name}</h1>
        <NodeState word={nodeWord(node)} />
      </div>
      {node.reason && <p class="notice">{ownClock(node.reason, now.value)}</p>}
      <div class="panels">
        <Use node={node} />
        {isOperator() && <Care node={node} />}
        {node.gpus && <Cards gpus={node.gpus} />}
        {added.map(({ OfNode }) => OfNode && <OfNode key={OfNode} name={node.name} />)}
        <Facts node={node} />
        <Running node={node} />
      </div>
    </>
  );
}

function Use({ node }: { node: NodeView }) {
  const { total, free, load, gpusUnusable = 0 } = node;
  const rows: [string, number, number, (amount: number) => string][] = [
    ['Cpus', total.cpuCount - free.cpuCount, total.cpuCount, String],
    ['Memory', total.memoryBytes - free.memoryBytes, total.memoryBytes, sizeWords],
    ['Gpus', gpusInUse(node), total.gpuCount, String],
    ...Object.entries(total.counted).map(
      ([name, whole]): [string, number, number, typeof String] => [
        ...([name, whole - (free.counted[name] ?? 0), whole, String] as const),
      ],
    ),
  ];
  return (
    <Panel title="Use">
      <dl>
        {rows
          .filter(([, , whole]) => whole > 0)
          .map(([name, part, whole, words]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {words(part)} of {words(whole)} given to tasks
                {name === 'Gpus' && gpusUnusable > 0 && `, ${gpusUnusable} not usable`}
                <Bar
                  part={part}
                  whole={whole}
                  label={`${name}: ${words(part)} of ${words(whole)}`}
                />
              </dd>
            </div>
          ))}
        {load && (
          <div>
            <dt>Measured</dt>
            <dd>
              load {load.load1.toFixed(2)}, {sizeWords(load.memoryFreeBytes)} memory free,{' '}
              {sizeWords(load.diskFreeBytes)} disk free
            </dd>
          </div>
        )}
      </dl>
    </Panel>
  );
}

function Facts({ node }: { node: NodeView }) {
  const rows: [string, string][] = [
    ['Labels', labelsForPeople(node.labels).join(', ')],
    ['Shared paths', node.sharedPaths.join(', ')],
    ['Clock', node.clockOffsetMs === null ? '' : `${node.clockOffsetMs} ms ahead of the head`],
    ...Object.entries(node.facts ?? {}).map(([key, value]): [string, string] => [
      key.replace(/Bytes$/, '').replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
      /Bytes$/.test(key) ? sizeWords(Number(value)) : String(value),
    ]),
  ];
  return (
    <Panel title="What it is" aside={<Command text={`weft node show ${node.name}`} />}>
      <dl>
        {rows
          .filter(([, value]) => value !== '')
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        <div>
          <dt>Last heard of</dt>
          <dd>
            <Time at={node.lastSeenAt} none="never" />
          </dd>
        </div>
      </dl>
    </Panel>
  );
}

function Running({ node }: { node: NodeView }) {
  const from = Math.floor(now.value / 60_000) * 60_000 - PAST_MS;
  const query = { from, limit: PAST_ROWS, node: node.name };
  const schedule = useCall(
    'schedule',
    { query },
    {
      when: ({ kind }) => /^(task|part)_/.test(kind),
      everyMs: EVERY_MS,
      togetherMs: TOGETHER_MS,
    },
  );
  return (
    <Panel title="Tasks, the last day" wide>
      <Loaded answer={schedule}>
        {({ bars, isPastWhole }) => {
          const here = bars
            .filter(({ kind }) => kind !== 'planned')
            .sort((one, other) => other.from - one.from);
          if (here.length === 0) return <Empty>Nothing ran here.</Empty>;
          return (
            <>
              <p class="faint">
                {some(here.length, 'task')}, the newest first
                {!isPastWhole && '; of what has ended, only the newest is shown'}
              </p>
              <table class="plain">
                <thead>
                  <tr>
                    <th>Task</th>
                    <th>State</th>
                    <th>Started</th>
                    <th class="number">Time</th>
                    <th class="spare">User</th>
                  </tr>
                </thead>
                <tbody>
                  {here.map((bar) => (
                    <tr key={`${bar.id} ${bar.from}`}>
                      <td>
                        <a href={hrefOf(['jobs', bar.jobId])}>{bar.id}</a> <bdi>{bar.name}</bdi>
                      </td>
                      <td>
                        <State word={bar.word} />
                      </td>
                      <td>
                        <Time at={bar.from} />
                      </td>
                      <td class="number">
                        <Span from={bar.from} until={bar.kind === 'past' ? bar.until : null} />
                      </td>
                      <td class="spare">{bar.owner}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </>
          );
        }}
      </Loaded>
    </Panel>
  );
}

/** The gpus of a node: what each is, how it is, and who has it. */
function Cards({ gpus }: { gpus: NonNullable<NodeView['gpus']> }) {
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
