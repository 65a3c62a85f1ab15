// One job: where it is and why, what can be done, its timeline, tasks, output, files.

import { useContext } from 'preact/hooks';
import type { ExplainReply, JobDetail } from '../../../api/jobs.ts';
import { call } from '../../data/client.ts';
import { now } from '../../data/clock.ts';
import type { LiveEvent } from '../../data/live.ts';
import { useCall } from '../../data/query.ts';
import { hrefOf, useChosen } from '../../data/route.ts';
import { isOperator, me } from '../../data/session.ts';
import { Actions } from '../../parts/actions.tsx';
import { Added } from '../../parts/added.ts';
import { Command, Loaded, Panel, Span, State, Time } from '../../parts/basic.tsx';
import { FileBrowser } from '../../parts/files/file-browser.tsx';
import { changeCommand } from '../../pure/command-line.ts';
import { changeOf } from '../../pure/smaller.ts';
import { failedCount, stateWord } from '../../pure/state.ts';
import { type Stretch, stretchesOf } from '../../pure/timeline.ts';
import { endWords, ownClock, some, spanWords } from '../../pure/words.ts';
import { Facts } from './facts.tsx';
import { Failures } from './failures.tsx';
import { useFirstFailed } from './first-failed.ts';
import { jobActions } from './job-actions.ts';
import { Logs } from './logs.tsx';
import { Tasks } from './tasks.tsx';

/** How often the forecast is asked anew: what others submit moves it. */
const WHY_MS = 10_000;
/** An array has events all the time. The first one after a second without any asks at once. */
const TOGETHER_MS = 1000;

export function Job({ id }: { id: string }) {
  const about = ({ jobId }: LiveEvent): boolean => String(jobId) === id;
  const job = useCall('getJob', { params: { id } }, { when: about, togetherMs: TOGETHER_MS });
  return (
    <div class="page">
      <Loaded answer={job}>{(value) => <Shown job={value} />}</Loaded>
    </div>
  );
}

function Shown({ job }: { job: JobDetail }) {
  const added = useContext(Added);
  const [task, setTask] = useChosen('task');
  const chosen = job.array !== null && /^\d{1,9}$/.test(task) ? Number(task) : null;
  const setIndex = (next: number): void => setTask(String(next));
  const failed = useFirstFailed(job, chosen === null ? 'asked' : 'unasked');
  const index = job.array === null ? null : (chosen ?? failed ?? firstOf(job.array));
  const hasFailures = job.array !== null && failedCount(job) > 0;
  const maySee = me.value?.name === job.owner || isOperator();
  const hasFiles = maySee && job.outputs !== null;
  return (
    <>
      <div class="title">
        <h1>
          Job {job.id} <bdi>{job.name}</bdi>
        </h1>
        <State word={stateWord(job)} />
        <span class="faint">
          of <a href={hrefOf(['jobs'], { state: 'all', owner: job.owner })}>{job.owner}</a>
        </span>
        <Actions actions={jobActions(job)} />
      </div>
      {job.notice && <p class="notice">{ownClock(job.notice, now.value)}</p>}
      <div class="panels">
        {hasFailures && <Failures job={job} index={index} onIndex={setIndex} />}
        <div class={hasFailures ? 'column' : 'pair'}>
          <Why job={job} />
          <Life job={job} />
        </div>
        {job.array !== null && <Tasks job={job} index={index} onIndex={setIndex} />}
        {maySee ? (
          <Logs job={job} index={index} />
        ) : (
          <Panel title="Output" wide>
            <p class="faint">Only {job.owner} and operators see the output.</p>
          </Panel>
        )}
        {added.map(({ OfJob }) => OfJob && <OfJob key={OfJob} job={job} />)}
        <Facts job={job} wide={!hasFiles} />
        {hasFiles && <Files job={job} index={index ?? 0} />}
      </div>
    </>
  );
}

function firstOf(array: string): number {
  return Number.parseInt(array, 10) || 0;
}

function Why({ job }: { job: JobDetail }) {
  const isWaiting = (job.taskCounts['pending'] ?? 0) > 0;
  const everyMs = isWaiting ? WHY_MS : 0;
  const when = ({ jobId }: LiveEvent): boolean => jobId === job.id;
  const params = { id: String(job.id) };
  const why = useCall('explainJob', { params }, { when, everyMs, togetherMs: TOGETHER_MS });
  const isPending = job.state === 'pending';
  return (
    <Panel
      title={isPending ? 'Why it waits' : 'Status'}
      aside={<Command text={`weft why ${job.id}`} />}
    >
      <Loaded answer={why}>{(value) => <WhyWords job={job} why={value} />}</Loaded>
    </Panel>
  );
}

function WhyWords({ job, why }: { job: JobDetail; why: ExplainReply }) {
  const lines = why.words.split('\n');
  const mayChange = me.value?.name === job.owner || isOperator();
  return (
    <>
      {lines.map((line) => (
        <p key={line} class="why">
          {ownClock(line, now.value)}
        </p>
      ))}
      {mayChange && <WhatIf job={job} offers={why.smaller} />}
    </>
  );
}

/** Smaller requests that would start now, each a button. */
function WhatIf({ job, offers }: { job: JobDetail; offers: readonly string[] }) {
  const actions = offers.flatMap((words) => {
    const change = changeOf(words);
    if (change === null) return [];
    const run = async (): Promise<string> => {
      await call('changeJob', { params: { id: String(job.id) }, body: change });
      return `Job ${job.id} asks for ${words}.`;
    };
    return [
      { label: `Would start now with ${words}`, command: changeCommand(job.id, change), run },
    ];
  });
  return <Actions actions={actions} />;
}

function Life({ job }: { job: JobDetail }) {
  const about = ({ jobId }: LiveEvent): boolean => jobId === job.id;
  const query = { jobId: job.id, tasks: true };
  const history = useCall('history', { query }, { when: about, idle: job.array !== null });
  const epochs = job.array === null ? (history.value?.tasks ?? []) : [];
  const stretches = job.array === null ? stretchesOf(job, epochs) : [];
  return (
    <Panel title="Timeline" aside={<Command text={`weft job ${job.id}`} />}>
      <Line stretches={stretches} />
      <ol class="life">
        <li>
          <Time at={job.submittedAt} /> submitted by {job.owner}
        </li>
        {stretches.map((one) => (
          <li key={one.from}>
            <Time at={one.from} /> {one.words}{' '}
            <span class="faint">
              (<Span from={one.from} until={one.until} />)
            </span>
          </li>
        ))}
        {job.array !== null && <ArrayLife job={job} />}
        {job.endedAt !== null && (
          <li>
            <Time at={job.endedAt} /> <State word={stateWord(job)} /> {endWords(job)}{' '}
            {job.cancelledBy && `by ${job.cancelledBy}`}
          </li>
        )}
      </ol>
    </Panel>
  );
}

function ArrayLife({ job }: { job: JobDetail }) {
  const counts = Object.entries({ ...job.taskCounts, ...job.outcomeCounts });
  return (
    <>
      {job.startedAt !== null && (
        <li>
          <Time at={job.startedAt} /> its first task started
        </li>
      )}
      <li>
        {some(job.taskCount, 'task')}:{' '}
        {counts
          .filter(([word, count]) => count > 0 && word !== 'done')
          .map(([word, count]) => (
            <span key={word} class="tally">
              <State word={word} /> {count}
            </span>
          ))}
      </li>
    </>
  );
}

/** The stretches as one bar; widths by their lengths, so that nothing moves but the end. */
function Line({ stretches }: { stretches: readonly Stretch[] }) {
  if (stretches.length === 0) return null;
  const lengths = stretches.map(({ from, until }) => Math.max(1, (until ?? now.value) - from));
  const words = stretches.map((one, at) => `${one.words}, ${spanWords(lengths[at] as number)}`);
  return (
    <div class="lifeline" role="img" aria-label={words.join('; ')}>
      {stretches.map(({ from, kind, word }, at) => (
        <span
          key={from}
          class={kind === 'wait' ? 'waits' : `runs ${word}`}
          title={words[at]}
          style={{ flexGrow: String(lengths[at]) }}
        />
      ))}
    </div>
  );
}

/** Files that a task left and the head keeps. */
function Files({ job, index }: { job: JobDetail; index: number }) {
  const params = { id: String(job.id), index: String(index) };
  const when = ({ jobId }: LiveEvent): boolean => jobId === job.id;
  const outputs = useCall('getOutputs', { params }, { when, togetherMs: TOGETHER_MS });
  const mayOpen = me.value?.name === job.owner;
  const id = job.array === null ? `${job.id}` : `${job.id}[${index}]`;
  const command = job.array === null ? `weft pull ${id}` : `weft pull '${id}'`;
  return (
    <Panel title="Files" wide aside={<Command text={command} />}>
      <Loaded answer={outputs}>
        {({ entries, missing }) => (
          <>
            <p class="faint">
              {some(entries.length, 'entry', 'entries')}
              {missing.length > 0 && `; ${some(missing.length, 'file')} could not be kept`}
              {!mayOpen && `; only ${job.owner} can open them`}
            </p>
            <FileBrowser entries={entries} name={`job-${id}`} mayOpen={mayOpen} />
          </>
        )}
      </Loaded>
    </Panel>
  );
}
