// The cluster at a glance: how much is used, what waits, what went wrong, and who must look.

import { useMemo } from 'preact/hooks';
import type { LoadReply, OverviewReply } from '../../api/cluster.ts';
import { gpusInUse } from '../../api/gpus-in-use.ts';
import type { JobView } from '../../api/jobs.ts';
import type { NodeView } from '../../api/nodes.ts';
import type { LiveEvent } from '../data/live.ts';
import { useCall } from '../data/query.ts';
import { hrefOf } from '../data/route.ts';
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
} from '../parts/basic.tsx';
import { Curves } from '../parts/curves.tsx';
import { NodeGrid } from '../parts/node-grid.tsx';
import { curvesOf } from '../pure/load.ts';
import { isFailure, needsCare, nodeWord, stateWord } from '../pure/state.ts';
import { countWords, endWords, shareWords, sizeWords } from '../pure/words.ts';

/** Loads of machines are in no event. */
const NODES_MS = 15_000;
/** The head adds a point so often. */
const LOAD_MS = 15_000;
/** Many pages may be open, and these answers are long. */
const TOGETHER_MS = 2000;
const SHOWN_ROWS = 8;
/** Of what waits, the first few: the reader wants to know what is next. */
const NEXT_ROWS = 4;

/** Whether jobs, or what is free for them, may be different now. */
const isOfWork = ({ kind }: LiveEvent): boolean => /^(job|task|part|node)_/.test(kind);
const isOfNodes = ({ kind }: LiveEvent): boolean => /^(node|part|task|maintenance)_/.test(kind);

export function Overview() {
  // Others' jobs are in no event of ours.
  const wish = { when: isOfWork, everyMs: NODES_MS, togetherMs: TOGETHER_MS };
  const seen = useCall('overview', {}, wish);
  const nodes = useCall(
    'listNodes',
    {},
    { when: isOfNodes, everyMs: NODES_MS, togetherMs: TOGETHER_MS },
  );
  const load = useCall('loadHistory', {}, { when: () => false, everyMs: LOAD_MS });
  return (
    <div class="page">
      <h1>Overview</h1>
      <Loaded answer={seen}>{(value) => <Figures seen={value} />}</Loaded>
      <div class="panels">
        <Panel title="Nodes" wide aside={<Command text="weft node list" />}>
          <Loaded answer={nodes}>{(value) => <NodeGrid nodes={value.nodes} />}</Loaded>
        </Panel>
        <Panel title="Load" wide>
          <Loaded answer={load}>{(value) => <Load load={value} seen={seen.value} />}</Loaded>
        </Panel>
        <Panel title="Needs attention">
          <Loaded answer={nodes}>
            {(value) => <Care nodes={value.nodes} seen={seen.value} />}
          </Loaded>
        </Panel>
        <Panel title="Runs and waits" aside={<Command text="weft jobs" />}>
          <Loaded answer={seen}>{(value) => <Work seen={value} />}</Loaded>
        </Panel>
      </div>
    </div>
  );
}

function Figures({ seen }: { seen: OverviewReply }) {
  const { total, free, queueLength, jobs, ended } = seen;
  const running = jobs['running'] ?? 0;
  const failed = Object.entries(ended)
    .filter(([kind]) => isFailure(kind))
    .reduce((sum, [, count]) => sum + count, 0);
  const used = (part: number, whole: number): number => whole - part;
  const rows: [string, string, string, string][] = [
    ['Running', countWords(running), 'jobs', hrefOf(['jobs'], { state: 'running' })],
    ['Waiting', countWords(queueLength), 'tasks', hrefOf(['jobs'], { state: 'pending' })],
    [
      ...(['Failed', countWords(failed), 'jobs in 24 hours'] as const),
      hrefOf(['jobs'], { state: 'all', outcome: 'failure' }),
    ],
  ];
  return (
    <div class="figures">
      {rows.map(([title, value, what, href]) => (
        <a key={title} class="figure" href={href}>
          <span class="faint">{title}</span>
          <strong>{value}</strong>
          <span class="faint">{what}</span>
        </a>
      ))}
      <Amount
        title="Cpus"
        part={used(free.cpuCount, total.cpuCount)}
        whole={total.cpuCount}
        words={countWords}
      />
      <Amount
        title="Memory"
        part={used(free.memoryBytes, total.memoryBytes)}
        whole={total.memoryBytes}
        words={sizeWords}
      />
      {total.gpuCount > 0 && (
        <Amount
          title="Gpus"
          part={gpusInUse(seen)}
          unusable={seen.gpusUnusable ?? 0}
          whole={total.gpuCount}
          words={countWords}
        />
      )}
      {(seen.resources ?? []).map(({ name, total: whole, used: part }) => (
        <Amount key={name} title={name} part={part} whole={whole} words={countWords} />
      ))}
    </div>
  );
}

function Amount({
  title,
  part,
  whole,
  unusable = 0,
  words,
}: {
  title: string;
  part: number;
  whole: number;
  /** What is neither free nor in use. */
  unusable?: number;
  words: (amount: number) => string;
}) {
  const rest = unusable === 0 ? '' : `, ${words(unusable)} not usable`;
  const label = `${words(part)} of ${words(whole)} ${title.toLowerCase()} in use${rest}`;
  return (
    <div class="figure">
      <span class="faint">{title}</span>
      <strong>{shareWords(part, whole)}</strong>
      <Bar part={part} whole={whole} label={label} />
      <span class="faint">
        {words(part)} of {words(whole)}
        {rest}
      </span>
    </div>
  );
}

function Care({ nodes, seen }: { nodes: readonly NodeView[]; seen: OverviewReply | null }) {
  const sick = nodes.filter(needsCare).slice(0, SHOWN_ROWS);
  const { failed, stuck } = seen ?? { failed: [], stuck: [] };
  if (sick.length + failed.length + stuck.length === 0) return <Empty>Nothing does.</Empty>;
  return (
    <ul class="rows">
      {sick.map((node) => (
        <li key={node.name}>
          <NodeState word={nodeWord(node)} /> <a href={hrefOf(['nodes', node.name])}>{node.name}</a>{' '}
          <span class="faint">{node.reason}</span>
        </li>
      ))}
      {stuck.map((job) => (
        <li key={job.id}>
          <State word={stateWord(job)} /> <a href={hrefOf(['jobs', job.id])}>job {job.id}</a>{' '}
          <span class="faint">{job.notice}</span>
        </li>
      ))}
      {failed.map((job) => (
        <li key={job.id}>
          <State word={stateWord(job)} /> <a href={hrefOf(['jobs', job.id])}>job {job.id}</a>{' '}
          <bdi>{job.name}</bdi> <Time at={job.endedAt} /> <span class="faint">{endWords(job)}</span>
        </li>
      ))}
    </ul>
  );
}

/** The first of what runs and of what is next, with how many there are beside them. */
function Work({ seen }: { seen: OverviewReply }) {
  const { running, jobs } = seen;
  const waiting = seen.waiting.slice(0, NEXT_ROWS);
  const pending = jobs['pending'] ?? 0;
  const active = Object.entries(jobs).reduce(
    (sum, [word, count]) => sum + (word === 'done' || word === 'pending' ? 0 : count),
    0,
  );
  if (active + pending === 0) {
    return (
      <Empty>
        Nothing does. <a href={hrefOf(['submit'])}>Submit a job</a>, or type{' '}
        <Command text="weft run -- hostname" />
      </Empty>
    );
  }
  return (
    <ul class="rows">
      {running.map((job) => (
        <Row key={job.id} job={job} />
      ))}
      <More count={active - running.length} word="run" state="active" />
      {waiting.map((job) => (
        <Row key={job.id} job={job} />
      ))}
      <More count={pending - waiting.length} word="wait" state="pending" />
    </ul>
  );
}

function Row({ job }: { job: JobView }) {
  return (
    <li>
      <State word={stateWord(job)} /> <a href={hrefOf(['jobs', job.id])}>{job.id}</a>{' '}
      <bdi>{job.name}</bdi> <span class="faint">{job.owner}</span>{' '}
      {job.state === 'pending' ? (
        <span class="faint">{job.reason?.words}</span>
      ) : (
        <Span from={job.runStartedAt} until={null} />
      )}
    </li>
  );
}

function More({ count, word, state }: { count: number; word: string; state: string }) {
  if (count <= 0) return null;
  return (
    <li>
      <a href={hrefOf(['jobs'], { state })}>
        {countWords(count)} more {word}
      </a>
    </li>
  );
}

function Load({ load, seen }: { load: LoadReply; seen: OverviewReply | null }) {
  const total = seen?.total.cpuCount ?? load.points.at(-1)?.cpusTotal ?? 0;
  const cpus = seen === null ? null : seen.total.cpuCount - seen.free.cpuCount;
  const waiting = seen?.queueLength ?? 0;
  const curves = useMemo(
    () => curvesOf(load, cpus === null ? null : { cpus, waiting }),
    [load, cpus, waiting],
  );
  if (curves.times.length < 2) return <Empty>The head has not looked yet.</Empty>;
  return (
    <Curves
      label={`Cpus in use of ${total}, and tasks that wait, over time`}
      times={curves.times}
      curves={[
        { name: `cpus in use of ${total}`, tone: 'run', values: curves.cpus, isArea: true },
        { name: 'tasks that wait', tone: 'wait', values: curves.waiting },
      ]}
      words="as the head saw it, a day at most"
    />
  );
}
