// What a Maui-like scheduler does to jobs: each request is one command of the controller.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import type { Engine } from '../../../kernel/head/engine.ts';
import type { Command } from '../../../kernel/machine/declared.ts';
import type { Job } from '../../../kernel/machine/jobs/facts.ts';
import type { UserActor } from '../../../kernel/model/actor.ts';
import { formatRefusal, type Refusal } from '../../../kernel/model/errors.ts';
import type { FilterRule } from '../../../kernel/model/filter-rule.ts';
import {
  formatTaskId,
  type NodeName,
  parseTaskId,
  type TaskPlace,
  type UserName,
} from '../../../kernel/model/ids.ts';
import type { Reason } from '../../../kernel/model/reason.ts';
import { SIGNALS } from '../../../kernel/model/signals.ts';
import type { JobChange } from '../../../kernel/model/submission.ts';
import type { Log } from '../../../kernel/ports/log.ts';
import type { WikiAction } from '../fabric/cluster.ts';
import { WIKI_CODES, type WikiProblem, wikiProblem } from '../fabric/codes.ts';
import { filteredJob, filteredNode } from './filtered.ts';
import { startTask } from './start.ts';

export interface WikiHands {
  readonly engine: Pick<Engine, 'execute' | 'now' | 'state'>;
  /** Whether the partition is one that the scheduler runs. */
  readonly isMine: (partition: string) => boolean;
  /** What the site lets the scheduler see: nothing else is touched either. */
  readonly rules: readonly FilterRule[];
  /** One line per request that changes something. */
  readonly audit: Log;
}

/** The actor for schedulers with the key, who look after jobs of the partitions that they run. */
const ACTOR: UserActor = {
  kind: 'user',
  name: 'wiki' as UserName,
  uid: null,
  role: 'operator',
};

const OVER_TIME = 'cancelled by the external scheduler: its time limit is over';

export async function actForWiki(
  hands: WikiHands,
  action: WikiAction,
  user: string | null,
): Promise<Result<string, WikiProblem>> {
  const done = await act(hands, action);
  const outcome = done.ok ? { done: done.value } : { refused: done.error.text };
  hands.audit.info({ ...action, user, ...outcome }, 'wiki request');
  return done;
}

async function act(hands: WikiHands, action: WikiAction): Promise<Result<string, WikiProblem>> {
  const found = placeOf(hands, action.job);
  if (!found.ok) return found;
  const { place, job } = found.value;
  switch (action.kind) {
    case 'start_job':
      return start(hands, place, job, action.tasks);
    case 'cancel_job': {
      const because = action.because === 'walltime' ? { because: OVER_TIME } : {};
      return execute(hands, { kind: 'cancel_task', place, ...because }, 'cancelled');
    }
    case 'suspend_job':
      return execute(hands, { kind: 'suspend_task', place }, 'suspended');
    case 'resume_job':
      return execute(hands, { kind: 'resume_task', place }, 'goes on');
    case 'requeue_job':
      return execute(hands, { kind: 'requeue_task', place }, 'requeued');
    case 'signal_job':
      return signal(hands, place, action.signal);
    case 'modify_job':
      return modify(hands, place, action.changes);
    case 'notify_job':
      return ok(`the message for job ${action.job} is in the audit log of the head`);
  }
}

/** A task of a partition that is the scheduler's own. */
function placeOf(
  { engine, isMine, rules }: WikiHands,
  id: string,
): Result<{ readonly place: TaskPlace; readonly job: Job }, WikiProblem> {
  const place = parseTaskId(id);
  if (!place.ok) return err(wikiProblem('malformed', place.error));
  const job = engine.state.jobs.get(place.value.jobId);
  if (job === undefined) return err(wikiProblem('refused', `no job ${id.slice(0, 40)}`));
  const { hiddenBy } = filteredJob(rules, job);
  if (hiddenBy !== null) return err(wikiProblem('refused', `rule ${hiddenBy} hides job ${id}`));
  if (isMine(job.spec.partition)) return ok({ place: place.value, job });
  const words = `job ${id} is of partition ${job.spec.partition}, which this scheduler does not run`;
  return err(wikiProblem('refused', words));
}

async function execute(
  { engine }: WikiHands,
  command: Command & { readonly place: TaskPlace },
  words: string,
): Promise<Result<string, WikiProblem>> {
  const reply = await engine.execute(command, ACTOR);
  const { jobId, index } = command.place;
  return reply.ok ? ok(`job ${formatTaskId(jobId, index)} ${words}`) : refused(reply.error);
}

function refused(refusal: Refusal): Result<never, WikiProblem> {
  return err(wikiProblem('refused', formatRefusal(refusal)));
}

/** Slurm's numbers of why a job waits, where it has one that means the same. */
const WAITS: Partial<Record<Reason['kind'], number>> = {
  dependency: 2,
  resources: 3,
  no_node_can: 3,
  reservation: 3,
  maintenance: 3,
  partition: 6,
  held: 8,
  begin_time: 9,
};

async function start(
  { engine, rules }: WikiHands,
  place: TaskPlace,
  { spec }: Job,
  tasks: readonly string[],
): Promise<Result<string, WikiProblem>> {
  const counts = new Map<string, number>();
  for (const node of tasks) counts.set(node, (counts.get(node) ?? 0) + 1);
  const { processesPerNode } = spec.request;
  for (const [node, count] of counts) {
    if (count === processesPerNode || count === 1) continue;
    const words = `the job runs ${processesPerNode} on each of its nodes; TASKLIST names ${node} ${count} times`;
    return err(wikiProblem('refused', words));
  }
  const nodes = [...counts.keys()].map((name) => name as NodeName);
  for (const name of nodes) {
    const node = engine.state.nodes.get(name);
    const rule = node === undefined ? null : filteredNode(rules, node).hiddenBy;
    if (rule !== null) return err(wikiProblem('refused', `rule ${rule} hides node ${name}`));
  }
  const started = await startTask(engine, { place, nodes }, ACTOR);
  const job = formatTaskId(place.jobId, place.index);
  if (started.ok) return ok(`job ${job} ${started.value === 0 ? 'runs there already' : 'starts'}`);
  const { refusal, reason } = started.error;
  if (reason === null) return refused(refusal);
  return err({ code: WIKI_CODES.notStarted - (WAITS[reason] ?? 0), text: formatRefusal(refusal) });
}

function signal(hands: WikiHands, place: TaskPlace, text: string) {
  const number = /^\d+$/.test(text) ? Number(text) : SIGNALS[text];
  if (number === undefined) {
    return Promise.resolve(err(wikiProblem('refused', `no signal is called ${text}`)));
  }
  return execute(hands, { kind: 'signal_task', place, signal: number }, `gets signal ${number}`);
}

type Changer = (value: string) => JobChange | null;

const COUNT = /^[1-9]\d{0,8}$/;

const CHANGERS: Readonly<Record<string, Changer>> = {
  /** Minutes, as Slurm applies them. */
  TIMELIMIT: (value) => (COUNT.test(value) ? { walltimeMs: Number(value) * 60_000 } : null),
  NODES: (value) => (COUNT.test(value) ? { nodeCount: Number(value) } : null),
  PARTITION: (value) => ({ partition: value }),
};

async function modify(
  { engine, isMine }: WikiHands,
  { jobId, index }: TaskPlace,
  changes: Readonly<Record<string, string>>,
): Promise<Result<string, WikiProblem>> {
  if (index !== null)
    return err(wikiProblem('refused', `only whole jobs are changed: job ${jobId}`));
  let change: JobChange = {};
  for (const [name, value] of Object.entries(changes)) {
    const changer = CHANGERS[name];
    if (changer === undefined) {
      const known = Object.keys(CHANGERS).join(', ');
      return err(
        wikiProblem('unsupported', `${name.slice(0, 40)} cannot be changed here; ${known} can`),
      );
    }
    const one = changer(value);
    if (one === null)
      return err(wikiProblem('malformed', `${name}: expected a whole number from 1`));
    change = { ...change, ...one };
  }
  if (change.partition !== undefined && !isMine(change.partition)) {
    return err(wikiProblem('refused', `this scheduler does not run partition ${change.partition}`));
  }
  const reply = await engine.execute({ kind: 'change_job', jobId, change }, ACTOR);
  return reply.ok ? ok(`job ${jobId} changed`) : refused(reply.error);
}
