// Steps: started inside of running tasks, for whoever their job belongs to.

import { err, ok, type Result } from '../../../kernel/base/result.ts';
import { authorizeObject } from '../../../kernel/head/auth/authorize.ts';
import type { Call, Handler } from '../../../kernel/head/http/call.ts';
import { checkIndex, readPlace } from '../../../kernel/head/http/find-job.ts';
import type { Services } from '../../../kernel/head/http/services.ts';
import { formatProgram } from '../../../kernel/head/program-line.ts';
import type { Part, Task } from '../../../kernel/machine/jobs/facts.ts';
import { type Refusal, refuse } from '../../../kernel/model/errors.ts';
import {
  type EpochId,
  formatEpochId,
  formatTaskId,
  type JobId,
  type NodeName,
  parseTaskId,
} from '../../../kernel/model/ids.ts';
import { FEATURE_WORDS } from '../../../kernel/model/node-features.ts';
import type { StepView } from '../api/step-view.ts';
import type { StartStepReply } from '../api/steps.ts';
import { type BindTo, type BindWish, tooFewCpus } from '../core/binding.ts';
import { formatStepId, parseStepId } from '../core/ids.ts';
import { COMMAND_LENGTH_MAX, STEPS_PAGE_MAX } from '../core/limits.ts';
import { placesOf } from '../core/places.ts';
import { tooMuchSaid } from '../core/size.ts';
import { isLive, type Step } from '../core/step.ts';
import { type SignalWish, type StartWish, type StopWish, WING } from '../core/told.ts';
import type { StepCursor } from '../ports/shelf.ts';

const AWAY_SHOWN_MAX = 8;

export const startStep: Handler<'startStep'> = async (services, call) => {
  const { bind } = call.body;
  if (bind === 'none') return startNow(services, call);
  const places = placesToBind(services, call);
  if (!places.ok) return places;
  const { task, nodes } = places.value;
  const old = nodes.find((node) => !canDo(services, node, 'bind'));
  if (old !== undefined) return err(tooOld(old, 'bind'));
  // Agents of the release before bind each process as it comes.
  const asked = nodes.filter((node) => canDo(services, node, 'claims'));
  const epochId = formatEpochId(task.id, task.epoch);
  const cpus = await services.steps.claims.ask(asked, { epochId, to: bind });
  return cpus.ok ? startNow(services, call) : err(notBoundWords(cpus.error));
};

/** The cpus of processes that the task starts itself. */
export const claimCpus: Handler<'claimCpus'> = async (services, call) => {
  const found = ownRunningTask(services, call);
  if (!found.ok) return found;
  const { nodes: wanted, bind: to } = call.body;
  const own: readonly string[] = nodesInOrder(found.value);
  const other = wanted.find((node) => !own.includes(node));
  if (other !== undefined)
    return err(refuse('argument.invalid', { what: `'${other}' is not a node of this task` }));
  const nodes = wanted as NodeName[];
  const away = refuseAway(services, nodes);
  if (away !== null) return err(away);
  const old = nodes.find((node) => !canDo(services, node, 'claims'));
  if (old !== undefined) return err(tooOld(old, 'claims'));
  const epochId = formatEpochId(found.value.id, found.value.epoch);
  const cpus = await services.steps.claims.ask(nodes, { epochId, to });
  return cpus.ok ? ok({ cpus: cpus.value }) : err(notBoundWords(cpus.error));
};

function noLinger(node: NodeName): string {
  return `--linger: node ${node} runs an agent that is too old for it; upgrade it, or leave --linger out`;
}

function notBoundWords(why: string): Refusal {
  return refuse('argument.invalid', { what: `--bind: ${why}` });
}

function tooOld(node: NodeName, feature: 'bind' | 'claims'): Refusal {
  const what = `--bind: node ${node} runs an agent too old for ${FEATURE_WORDS[feature]}; upgrade it, or leave --bind out`;
  return refuse('argument.invalid', { what });
}

function refuseAway({ agents }: Services, nodes: readonly NodeName[]): Refusal | null {
  const away = nodes.find((node) => agents.wingSession(node) === null);
  return away === undefined ? null : refuse('step.node_away', { node: away });
}

/** Where they would run. */
function placesToBind(
  services: Services,
  call: Call<'startStep'>,
): Result<{ readonly task: Task; readonly nodes: NodeName[] }, Refusal> {
  const found = ownRunningTask(services, call);
  if (!found.ok) return found;
  const places = placesIn(found.value, call.body);
  if (!places.ok) return places;
  const away = refuseAway(services, places.value);
  return away === null ? ok({ task: found.value, nodes: places.value }) : err(away);
}

function startNow(services: Services, call: Call<'startStep'>): Result<StartStepReply, Refusal> {
  const { body, actor } = call;
  const found = ownRunningTask(services, call);
  if (!found.ok) return found;
  const task = found.value;
  const places = placesIn(task, body);
  if (!places.ok) return places;
  const nodes = places.value;
  // Agents that know no claims know of no time either, and would hang it up after a minute.
  const old = nodes.find((node) => body.lingerMs !== undefined && !canDo(services, node, 'claims'));
  if (old !== undefined) return err(refuse('argument.invalid', { what: noLinger(old) }));
  const epochId = formatEpochId(task.id, task.epoch);
  const line = body.title ?? formatProgram({ kind: 'argv', argv: body.argv });
  const command = line.slice(0, COMMAND_LENGTH_MAX);
  const at = services.clock.now();
  const sessionOf = (node: NodeName) => services.agents.wingSession(node);
  const away = refuseAway(services, nodes);
  if (away !== null) return err(away);
  const made = { task: task.id, epochId, command, by: actor.name, nodes, at, sessionOf };
  const step = services.steps.book.add({ ...made, cpuCount: body.cpuCount });
  if (!step.ok) return err(refuse('step.too_many', { task: task.id, what: step.error }));
  return order(services, { step: step.value, epochId, nodes, body });
}

interface Ordered {
  readonly step: Step;
  readonly epochId: EpochId;
  readonly nodes: readonly NodeName[];
  readonly body: Call<'startStep'>['body'];
}

function order({ agents, steps }: Services, { step, epochId, nodes, body }: Ordered) {
  const id = formatStepId(step);
  for (const [rank, node] of nodes.entries()) {
    const bind = bindOf(nodes, rank, body.bind);
    const wish: StartWish = {
      do: 'start',
      step: id,
      rank,
      count: nodes.length,
      epochId,
      argv: body.argv,
      environment: body.environment,
      directory: body.directory ?? null,
      terminal: body.terminal ?? null,
      command: step.command,
      by: step.by,
      pmi: body.pmi,
      ...bind,
      ...(body.lingerMs === undefined ? {} : { lingerMs: body.lingerMs }),
      ...(body.cpuCount === undefined ? {} : { cpuCount: body.cpuCount }),
    };
    if (agents.tellWing(node, WING, wish)) continue;
    steps.book.giveUp(step, rank, `node ${node} cannot be told of it`);
    const stop: StopWish = { do: 'stop', step: id };
    for (const told of new Set(nodes.slice(0, rank))) agents.tellWing(told, WING, stop);
    return err(refuse('step.node_away', { node }));
  }
  return ok({ id, epochId, processes: nodes.map((node, rank) => ({ rank, node })) });
}

/** Which of its node's processes it is. */
function bindOf(
  nodes: readonly NodeName[],
  rank: number,
  to: BindTo | 'none',
): { readonly bind?: BindWish } {
  if (to === 'none') return {};
  const on = (places: readonly NodeName[]) => places.filter((node) => node === nodes[rank]).length;
  return { bind: { to, local: on(nodes.slice(0, rank)), of: on(nodes) } };
}

/** An agent that does not know it would start the step unbound, without a word. */
function canDo({ engine }: Services, node: NodeName, feature: 'bind' | 'claims'): boolean {
  return engine.state.nodes.get(node)?.features?.includes(feature) === true;
}

/** A running task in whose owner's name the caller may start programs. */
export function ownRunningTask(
  services: Services,
  call: Call<'startStep' | 'noteStep' | 'claimCpus'>,
): Result<Task, Refusal> {
  const found = runningTask(services, call);
  if (!found.ok) return found;
  const { owner, id } = found.value.job;
  const refusal = authorizeObject(call.actor, { kind: 'calls', id, owner });
  return refusal === null ? found : err(refusal);
}

/** Where none of an array is named, its one running task is meant. */
function runningTask(
  services: Services,
  { job, params }: Pick<Call<'startStep' | 'noteStep' | 'claimCpus'>, 'job' | 'params'>,
): Result<Task, Refusal> {
  const place = readPlace(params.id);
  if (!place.ok) return place;
  if (job === null) return err(refuse('job.not_found', { job: params.id }));
  const index = checkIndex(job, place.value);
  if (!index.ok) return index;
  if (job.live === null || job.live.outcome !== null) {
    return err(refuse('step.not_running', { task: params.id, state: 'done' }));
  }
  const running = [...job.live.active.values()].filter(({ state }) => state === 'running');
  if (index.value === undefined && running.length > 1) {
    const what = `job ${params.id} has ${running.length} running tasks; name one, as ${running[0]?.id}`;
    return err(refuse('argument.invalid', { what }));
  }
  const task = index.value === undefined ? running[0] : job.live.active.get(index.value);
  if (task?.state === 'running') return checkHost(services, task);
  const id = formatTaskId(place.value.jobId, place.value.index);
  const state = task?.state ?? (job.live.pending.has(index.value ?? 0) ? 'pending' : 'not running');
  return err(refuse('step.not_running', { task: id, state: state.replaceAll('_', ' ') }));
}

/** A step is a program of the node, which what runs elsewhere has none of. */
function checkHost({ engine }: Services, task: Task): Result<Task, Refusal> {
  const isAtSite = [...task.parts.keys()].some(
    (node) => engine.state.nodes.get(node)?.facts?.site !== undefined,
  );
  const isInImage = task.job.spec.pool?.image !== undefined;
  if (!isAtSite && !isInImage) return ok(task);
  const why = isAtSite ? 'it runs at a site' : 'it runs in a container of its own';
  return err(refuse('step.not_here', { task: task.id, why }));
}

function placesIn(task: Task, body: Call<'startStep'>['body']): Result<NodeName[], Refusal> {
  const { node = null, count, perNode, terminal } = body;
  const invalid = (what: string) => err(refuse('argument.invalid', { what }));
  const places = placesOf(nodesInOrder(task), { node, count, perNode });
  if (!places.ok) return invalid(places.error);
  const tooMuch = tooMuchSaid(body, places.value);
  if (tooMuch !== null) return invalid(tooMuch);
  const few = notBound(task, places.value as NodeName[], body.bind);
  if (few !== null) return invalid(`--bind: ${few}`);
  const still = standingStill(task, places.value as NodeName[]);
  if (still !== null) return err(refuse('step.not_running', { task: task.id, state: still }));
  if (terminal !== undefined && places.value.length > 1) {
    return invalid('a terminal is for one process; leave out -n and --per-node, or --pty');
  }
  return ok(places.value as NodeName[]);
}

/** Words why; null: they can be, as far as the head knows. */
function notBound({ parts }: Task, places: readonly NodeName[], to: BindTo | 'none') {
  if (to === 'none') return null;
  for (const [node, { length }] of Map.groupBy(places, (name) => name)) {
    const few = tooFewCpus(to, length, parts.get(node)?.share.resources.cpuCount ?? 0);
    if (few !== null) return `on node ${node} ${few}`;
  }
  return null;
}

/** A program that is started in what is stopped would run all the same, in the place of others. */
function standingStill({ stops, parts }: Task, nodes: readonly NodeName[]): string | null {
  const [why] = stops.values();
  if (why !== undefined) return `held still (${why})`;
  const stopped = nodes.find((node) => parts.get(node)?.state === 'suspended');
  return stopped === undefined ? null : `suspended on node ${stopped}`;
}

export function nodesInOrder({ parts }: Task): NodeName[] {
  const live = [...parts].filter(([, part]: [NodeName, Part]) => part.state !== 'ended');
  return live.sort(([, a], [, b]) => a.nodeRank - b.nodeRank).map(([node]) => node);
}

export const listSteps: Handler<'listSteps'> = ({ steps, clock }, { params, job }) => {
  const place = readPlace(params.id);
  if (!place.ok) return place;
  if (job === null) return err(refuse('job.not_found', { job: params.id }));
  const { jobId, index } = place.value;
  const wanted = { jobId, index: index ?? undefined };
  const all = steps.past.ofJob(steps.book, wanted, STEPS_PAGE_MAX);
  return ok({ steps: all, at: clock.now() });
};

/** Everybody sees their own, operators those of all. */
export const listAllSteps: Handler<'listAllSteps'> = ({ steps, clock }, { query, actor }) => {
  const { from = 1, to = Number.MAX_SAFE_INTEGER, limit: max = STEPS_PAGE_MAX } = query;
  const after = query.after === undefined ? null : cursorOf(query.after);
  if (after === undefined) {
    const what = `'${query.after}' is no step to go on after; take 'next' of the page before`;
    return err(refuse('argument.invalid', { what }));
  }
  const owner = actor.role === 'user' ? actor.name : null;
  const page = steps.past.among(steps.book, { from, to, owner, after, max: max + 1 });
  const shown = page.slice(0, max).map(({ view }) => view);
  const next = page.length > max ? (shown.at(-1)?.id ?? null) : null;
  return ok({ steps: shown, next, at: clock.now() });
};

function cursorOf(text: string): StepCursor | undefined {
  const name = parseStepId(text);
  const place = parseTaskId(name.ok ? name.value.task : '');
  return name.ok && place.ok ? { ...place.value, number: name.value.number } : undefined;
}

export const signalStep: Handler<'signalStep'> = ({ steps, agents }, { params, body }) => {
  const { step: id } = params;
  const cursor = cursorOf(id);
  const named = readPlace(params.id);
  // The path's job is the one whose owner was asked for.
  const isOwn = cursor !== undefined && named.ok && cursor.jobId === named.value.jobId;
  if (!isOwn) return err(refuse('step.not_found', { step: id }));
  const step = steps.book.find(id);
  if (step === undefined || !isLive(step)) return err(endedOrUnknown(steps, cursor));
  const own = formatStepId(step);
  if (step.isNoted === true) {
    const what = `the processes of step ${own} are its job's own: signal the job, or what has started them there`;
    return err(refuse('argument.invalid', { what }));
  }
  const { signal } = body;
  const wish: StopWish | SignalWish =
    signal === undefined ? { do: 'stop', step: own } : { do: 'signal', step: own, signal };
  const live = [...step.processes.values()].filter(({ end }) => end === null);
  const nodes = [...new Set(live.map(({ node }) => node))];
  const away = nodes.filter((node) => !agents.tellWing(node, WING, wish));
  if (away.length > 0) return err(refuse('step.node_away', { node: awayWords(away, nodes) }));
  return ok({ count: live.length });
};

/** By its id alone, however many steps the job has had since. */
function endedOrUnknown({ past, book }: Services['steps'], cursor: StepCursor): Refusal {
  const { jobId, index, number } = cursor;
  const id = formatStepId({ task: formatTaskId(jobId as JobId, index), number });
  const after = { jobId, index, number: number - 1 };
  const [one] = past.among(book, { from: jobId, to: jobId, owner: null, after, max: 1 });
  if (one?.view.id !== id) return refuse('step.not_found', { step: id });
  return refuse('step.ended', { step: id, exit: exitWords(one.view) });
}

/** `n2`, or `n2, n3 (2 of 4 were told)`. */
function awayWords(away: readonly NodeName[], nodes: readonly NodeName[]): string {
  const more = away.length > AWAY_SHOWN_MAX ? ', …' : '';
  const words = `${away.slice(0, AWAY_SHOWN_MAX).join(', ')}${more}`;
  const told = nodes.length - away.length;
  return told === 0 ? words : `${words} (${told} of ${nodes.length} were told)`;
}

/** `exit code 3`, or why nobody knows of one. */
function exitWords({ exit, why }: StepView): string {
  if (exit === null) return why ?? 'no exit code that is known';
  return exit.signal === undefined ? `exit code ${exit.code}` : `signal ${exit.signal}`;
}
