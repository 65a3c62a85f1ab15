// The cluster at a glance: how much is used, what waits, what went wrong, and who must look.

import { useMemo } from 'preact/hooks';
import type { InfoReply } from '../../src/api/cluster.ts';
import type { JobView } from '../../src/api/jobs.ts';
import type { NodeView } from '../../src/api/nodes.ts';
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
import { type LoadPoint, loadOverTime } from '../pure/load.ts';
import { needsCare, nodeWord, stateWord } from '../pure/state.ts';
import { countWords, exitWords, shareWords, sizeWords, some } from '../pure/words.ts';

/** Loads of machines are in no event. */
const NODES_MS = 15_000;
const RECENT_ROWS = 200;
/** Many pages may be open, and these answers are long. */
const TOGETHER_MS = 2000;
const SHOWN_ROWS = 8;

/** Whether jobs, or what is free for them, may be different now. */
const isOfWork = ({ kind }: LiveEvent): boolean => /^(job|task|part|node)_/.test(kind);
const isOfNodes = ({ kind }: LiveEvent): boolean => /^(node|part|task|maintenance)_/.test(kind);

export function Overview() {
  const info = useCall('info', {}, { when: isOfWork, togetherMs: TOGETHER_MS });
  const nodes = useCall(
    'listNodes',
    {},
    { when: isOfNodes, everyMs: NODES_MS, togetherMs: TOGETHER_MS },
  );
  const recent = useCall(
    'listJobs',
    { query: { state: 'all', limit: RECENT_ROWS } },
    { when: isOfWork, togetherMs: TOGETHER_MS },
  );
  return (
    <div class="page">
      <h1>Overview</h1>
      <Loaded answer={info}>{(value) => <Figures info={value} recent={recent.value} />}</Loaded>
      <div class="panels">
        <Panel title="Nodes" wide aside={<Command text="weft node list" />}>
          <Loaded answer={nodes}>{(value) => <NodeGrid nodes={value.nodes} />}</Loaded>
        </Panel>
        <Panel title="Load" wide>
          <Loaded answer={recent}>
            {(value) => <Load jobs={value.jobs} isWhole={value.next === null} info={info.value} />}
          </Loaded>
        </Panel>
        <Panel title="Needs attention">
          <Loaded answer={nodes}>
            {(value) => <Care nodes={value.nodes} jobs={recent.value?.jobs ?? []} />}
          </Loaded>
        </Panel>
        <Panel title="Runs and waits" aside={<Command text="weft jobs" />}>
          <Loaded answer={recent}>{(value) => <Recent jobs={value.jobs} />}</Loaded>
        </Panel>
      </div>
    </div>
  );
}

function Figures({
  info,
  recent,
}: {
  info: InfoReply;
  recent: { readonly jobs: readonly JobView[] } | null;
}) {
  const { total, free, queueLength, jobs } = info;
  const running = jobs['running'] ?? 0;
  const failed = (recent?.jobs ?? []).filter(isBad).length;
  const used = (part: number, whole: number): number => whole - part;
  const rows: [string, string, string, string][] = [
    ['Running', countWords(running), 'jobs', hrefOf(['jobs'], { state: 'running' })],
    ['Waiting', countWords(queueLength), 'tasks', hrefOf(['jobs'], { state: 'pending' })],
    ['Failed', countWords(failed), 'of the last jobs', hrefOf(['jobs'], { state: 'done' })],
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
          part={used(free.gpuCount, total.gpuCount)}
          whole={total.gpuCount}
          words={countWords}
        />
      )}
    </div>
  );
}

function Amount({
  title,
  part,
  whole,
  words,
}: {
  title: string;
  part: number;
  whole: number;
  words: (amount: number) => string;
}) {
  const label = `${words(part)} of ${words(whole)} ${title.toLowerCase()} in use`;
  return (
    <div class="figure">
      <span class="faint">{title}</span>
      <strong>{shareWords(part, whole)}</strong>
      <Bar part={part} whole={whole} label={label} />
      <span class="faint">
        {words(part)} of {words(whole)}
      </span>
    </div>
  );
}

function isBad(job: JobView): boolean {
  const word = stateWord(job);
  return job.state === 'done' && word !== 'completed' && word !== 'cancelled';
}

function Care({ nodes, jobs }: { nodes: readonly NodeView[]; jobs: readonly JobView[] }) {
  const sick = nodes.filter(needsCare).slice(0, SHOWN_ROWS);
  const failed = jobs.filter(isBad).slice(0, SHOWN_ROWS);
  const stuck = jobs.filter(({ notice }) => notice !== null).slice(0, SHOWN_ROWS);
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
          <bdi>{job.name}</bdi> <Time at={job.endedAt} />{' '}
          <span class="faint">{exitWords(job.exit) || job.outcome?.detail}</span>
        </li>
      ))}
    </ul>
  );
}

function Recent({ jobs }: { jobs: readonly JobView[] }) {
  const rank = ({ state }: JobView): number => (state === 'pending' ? 1 : 0);
  const shown = jobs
    .filter(({ state }) => state !== 'done')
    .sort((one, other) => rank(one) - rank(other) || other.id - one.id)
    .slice(0, SHOWN_ROWS);
  if (shown.length === 0) {
    return (
      <Empty>
        Nothing does. <a href={hrefOf(['submit'])}>Submit a job</a>, or type{' '}
        <Command text="weft run -- hostname" />
      </Empty>
    );
  }
  return (
    <ul class="rows">
      {shown.map((job) => (
        <li key={job.id}>
          <State word={stateWord(job)} /> <a href={hrefOf(['jobs', job.id])}>{job.id}</a>{' '}
          <bdi>{job.name}</bdi> <span class="faint">{job.owner}</span>{' '}
          {job.state === 'pending' ? (
            <span class="faint">{job.reason?.words}</span>
          ) : (
            <Span from={job.runStartedAt} until={null} />
          )}
        </li>
      ))}
    </ul>
  );
}

function Load({
  jobs,
  isWhole,
  info,
}: {
  jobs: readonly JobView[];
  isWhole: boolean;
  info: InfoReply | null;
}) {
  const points: readonly LoadPoint[] = useMemo(
    () => loadOverTime(jobs, { now: Date.now(), isWhole }),
    [jobs, isWhole],
  );
  if (points.length < 2) return <Empty>No job has run yet.</Empty>;
  const total = info?.total.cpuCount ?? 0;
  return (
    <Curves
      label={`Cpus in use of ${total}, and jobs that wait, over time`}
      times={points.map(({ at }) => at)}
      curves={[
        {
          name: `cpus in use of ${total}`,
          tone: 'run',
          values: points.map(({ cpus }) => cpus),
          isArea: true,
        },
        { name: 'jobs that wait', tone: 'wait', values: points.map(({ waiting }) => waiting) },
      ]}
      words={`${some(jobs.length, 'job')} looked at`}
    />
  );
}
