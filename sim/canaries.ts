// The planted bugs in the head: in its engine, its store and its sessions. Those in agents are in
// agent-canaries.ts.

import { ok } from '../src/kernel/base/result.ts';
import { Agents } from '../src/kernel/head/agents.ts';
import { Engine } from '../src/kernel/head/engine.ts';
import { decodeEntry, encodeEntry } from '../src/kernel/head/journal.ts';
import type { Input } from '../src/kernel/machine/controller.ts';
import type { Event } from '../src/kernel/machine/declared.ts';
import { refreshPool } from '../src/kernel/machine/nodes/apply.ts';
import { apply } from '../src/kernel/machine/nouns.ts';
import type { Step } from '../src/kernel/machine/step.ts';
import { settleTask } from '../src/kernel/machine/tasks/ending.ts';
import { type EpochId, formatEpochId, type JobId } from '../src/kernel/model/ids.ts';
import { NO_USAGE } from '../src/kernel/model/job.ts';
import type { Commit, Store } from '../src/kernel/ports/store.ts';
import { decodeAgentMessage } from '../src/kernel/wire/codec.ts';
import { AGENT_CANARIES } from './agent-canaries.ts';
import { BATCH_CANARIES } from './batch-canaries.ts';
import {
  type Canary,
  type CanaryWorld,
  type Planted,
  replaceMethod,
  withEvents,
} from './canary.ts';
import { FILE_CANARIES } from './file-canaries.ts';
import { GOAL_CANARIES } from './goals/canaries.ts';
import { PLACE_CANARIES } from './place-canaries.ts';
import { POST_CANARIES } from './post-canaries.ts';
import { SCHEDULER_CANARIES } from './scheduler-canaries.ts';
import { PLAIN } from './weather.ts';

type Perform = Engine['perform'];

/** A head that makes something else of its inputs. */
function withInputs(change: (engine: Engine, input: Input) => Input): () => Planted {
  return () => ({
    remove: replaceMethod(Engine.prototype, 'perform', (original) => {
      return function perform(this: Engine, ...[input, done]: Parameters<Perform>): void {
        original.call(this, change(this, input), done);
      };
    }),
  });
}

function withAppend(append: (store: Store, commit: Commit, world: CanaryWorld) => Promise<void>) {
  return (world: CanaryWorld): Planted => ({
    wrapStore: (store) => ({
      recover: () => store.recover(),
      append: (commit) => append(store, commit, world),
      saveSnapshot: (seq, bytes) => store.saveSnapshot(seq, bytes),
      probe: () => store.probe(),
      jobs: (query) => store.jobs(query),
      tasks: (query) => store.tasks(query),
      usage: (query) => store.usage(query),
      prune: (rule) => store.prune(rule),
      close: () => store.close(),
    }),
  });
}

/** Forgets that the part has started already. */
function forgetStart(engine: Engine, input: Input): Input {
  if (input.kind !== 'report' || input.report.kind !== 'task_started') return input;
  const holding = engine.state.nodes.get(input.node)?.holding.get(input.report.epochId);
  const part = holding?.task?.parts.get(input.node);
  if (part?.state === 'started') part.state = 'ordered';
  return input;
}

function forgetKey(_engine: Engine, input: Input): Input {
  if (input.kind !== 'command' || input.command.kind !== 'submit_job') return input;
  return { ...input, command: { ...input.command, key: null } };
}

function takeAnySession(engine: Engine, input: Input): Input {
  if (input.kind !== 'report' && input.kind !== 'disconnected') return input;
  return { ...input, session: engine.state.nodes.get(input.node)?.session ?? 0 };
}

/** Takes the report for whichever epoch of the task the node holds now. */
function takeAnyEpoch(engine: Engine, input: Input): Input {
  if (input.kind !== 'report' || input.report.kind === 'node_pause') return input;
  const { report, node } = input;
  const task = report.epochId.split('#')[0];
  for (const holding of engine.state.nodes.get(node)?.holding.values() ?? []) {
    if (holding.task === null || holding.task.id !== task) continue;
    const epochId = formatEpochId(holding.task.id, holding.task.epoch);
    return { ...input, report: { ...report, epochId } };
  }
  return input;
}

/** Believes whatever is held to be gone when a node says hello. */
function ignoreHeld(_engine: Engine, input: Input): Input {
  if (input.kind !== 'hello') return input;
  return { ...input, hello: { ...input.hello, held: [] } };
}

let ticks = 0;

function applyByClock(step: Step, event: Event): void {
  ticks += 1;
  apply(step.state, event, step.at + (ticks % 7));
  step.events.push(event);
}

/** The processes are told to end, but their place is given away at once. */
function freeAtCancel(world: CanaryWorld): Planted {
  return withEvents((step, event, original) => {
    original.call(step, event);
    if (event.kind !== 'end_asked' || event.why !== 'cancel') return;
    const task = step.state.jobs.get(event.place.jobId)?.active.get(event.place.index ?? 0);
    if (task === undefined) return;
    const epochId = formatEpochId(task.id, task.epoch);
    for (const part of [...task.parts.values()]) {
      if (part.state === 'ended') continue;
      endNow(world, step, { epochId, node: part.share.node });
    }
    settleTask(step, task);
  })();
}

function endNow(
  { host }: CanaryWorld,
  step: Step,
  of: { epochId: EpochId; node: Parameters<Agents['send']>[0] },
): void {
  const graceMs = step.settings.killGraceMs;
  host.head?.agents.send(of.node, [{ kind: 'end', epochId: of.epochId, graceMs, why: 'cancel' }]);
  const end = { cause: 'ended', nodeFault: false, processes: [], usage: NO_USAGE } as const;
  step.emit({ kind: 'part_ended', ...of, ...end });
}

/** A cancel is all that is told of a task, also where its processes had ended before. */
function forgetExit(step: Step, event: Event, original: Step['emit']): void {
  if (event.kind !== 'task_done' || event.outcome.kind !== 'cancelled') {
    return original.call(step, event);
  }
  const { exit: _exit, process: _process, ...outcome } = event.outcome;
  original.call(step, { ...event, outcome });
}

function ignoreDrain(step: Step, event: Event, original: Step['emit']): void {
  original.call(step, event);
  const node = event.kind === 'node_drained' ? step.state.nodes.get(event.node) : undefined;
  if (node === undefined) return;
  const { drain } = node;
  node.drain = null;
  refreshPool(step.state, node);
  node.drain = drain;
}

function ignoreDependencies(step: Step, event: Event, original: Step['emit']): void {
  original.call(step, event.kind === 'job_submitted' ? { ...event, waitsFor: [] } : event);
}

/** Tasks of arrays do not wait for those that they follow. */
function ignoreElements(step: Step, event: Event, original: Step['emit']): void {
  if (event.kind !== 'job_submitted') return original.call(step, event);
  const { behind: _, ...rest } = event;
  original.call(step, rest);
}

/** What completed runs once more. */
function retryAll(step: Step, event: Event, original: Step['emit']): void {
  if (event.kind !== 'job_submitted') return original.call(step, event);
  const { spec } = event;
  const old = spec.retry === undefined ? undefined : step.state.jobs.get(spec.retry.of)?.spec.array;
  if (spec.array === null || old == null) return original.call(step, event);
  original.call(step, { ...event, spec: { ...spec, array: old } });
}

function answerFirst(): Planted {
  return {
    remove: replaceMethod(Engine.prototype, 'perform', (original) => {
      return function perform(this: Engine, ...[input, done]: Parameters<Perform>): void {
        const next = this.state.nextJobId;
        original.call(this, input, done);
        if (input.kind !== 'command' || this.state.nextJobId === next) return;
        done(ok({ kind: 'submitted', jobId: next as JobId, again: false }));
      };
    }),
  };
}

function sendOnce(): Planted {
  const sent = new Set<string>();
  return {
    remove: replaceMethod(Agents.prototype, 'send', (original) => {
      return function send(this: Agents, ...[node, orders]: Parameters<Agents['send']>): void {
        const fresh = orders.filter((order) => order.kind !== 'launch' || !sent.has(order.epochId));
        for (const order of orders) if (order.kind === 'launch') sent.add(order.epochId);
        if (fresh.length > 0) original.call(this, node, fresh);
      };
    }),
  };
}

/** Takes each machine for the node that it says to be. */
function forgetMarks(_engine: Engine, input: Input): Input {
  if (input.kind !== 'hello') return input;
  const { machine: _machine, upMs: _upMs, ...hello } = input.hello;
  return { kind: 'hello', hello };
}

/** Each hello makes a session of its own, also the same one again. */
function greetAgain(): Planted {
  return {
    remove: replaceMethod(Agents.prototype, 'accept', (original) => {
      return function accept(this: Agents, ...[session]: Parameters<Agents['accept']>): void {
        let greeted = false;
        const take = (): void => original.call(this, session);
        const onMessage = session.onMessage.bind(session);
        session.onMessage = (handler) => {
          onMessage((bytes) => {
            const message = decodeAgentMessage(bytes);
            const isHello = message.ok && message.value.kind === 'hello';
            if (isHello && greeted) {
              session.onMessage = (again) => again(bytes);
              take();
              return;
            }
            greeted ||= isHello;
            handler(bytes);
          });
        };
        take();
      };
    }),
  };
}

/** A crash keeps the first half of what one step decided. */
async function keepHalf(store: Store, commit: Commit, { host }: CanaryWorld): Promise<void> {
  const steps = decodeEntry(commit.seq, commit.bytes);
  const last = steps.at(-1);
  if (host.commitCrash !== 'before' || last === undefined) return store.append(commit);
  const half = last.events.slice(0, Math.ceil(last.events.length / 2));
  host.commitCrash = 'after';
  const bytes = encodeEntry([...steps.slice(0, -1), { ...last, events: half }]);
  return store.append({ ...commit, bytes });
}

/** The records follow later, one after the other: answers and orders do not wait for them. */
function promiseOnly(world: CanaryWorld): Planted {
  let written = Promise.resolve();
  return withAppend(async (store, commit) => {
    written = written.then(() => store.append(commit)).catch(() => undefined);
  })(world);
}

/** Many wishes about jobs that are there already. */
const LATER = { ...PLAIN, laterMs: 1000, submissionMs: 1000 } as const;

/** All canaries; each must be found, and its seed in seeds.ts finds it at once. */
export const CANARIES: readonly Canary[] = [
  canary('report-not-idempotent', 'a start reported twice counts twice', withInputs(forgetStart)),
  canary('submit-not-deduplicated', 'the same key makes another job', withInputs(forgetKey)),
  canary('hello-not-deduplicated', 'the same hello again opens another session', greetAgain),
  canary(
    'apply-reads-clock',
    'applying an event depends on when it is done',
    withEvents(applyByClock),
  ),
  canary('launch-sent-once', 'a lost launch order is never repeated', sendOnce),
  canary('session-not-checked', 'an old session still has a say', withInputs(takeAnySession)),
  canary('effects-before-sync', 'orders and answers do not wait for the disk', promiseOnly),
  canary('acknowledged-before-journal', 'a submission is answered before it is kept', answerFirst),
  canary(
    'freed-at-cancel',
    'a cancelled task gives up its place while it still runs',
    freeAtCancel,
  ),
  canary(
    'epoch-not-checked',
    'a report of an older epoch is taken for the new one',
    withInputs(takeAnyEpoch),
  ),
  canary('half-a-step', 'a crash keeps half of what a step decided', withAppend(keepHalf)),
  canary(
    'held-ignored',
    'what a node holds at its hello is taken to be gone',
    withInputs(ignoreHeld),
  ),
  canary(
    'late-cancel-forgets',
    'of a task that was cancelled while its files were kept nobody knows how it had ended',
    withEvents(forgetExit),
    { files: 1, netSlowMs: 10_000, commandMs: 500 },
  ),
  canary(
    'copy-taken-for-reboot',
    'the hello of a copied machine counts as the restart of its original',
    withInputs(forgetMarks),
    { ...PLAIN, cloneMs: 5000, nodeCount: 3, headCrashMs: null },
  ),
  canary('drain-ignored', 'a drained node goes on getting work', withEvents(ignoreDrain)),
  canary('dependency-ignored', 'a dependent does not wait', withEvents(ignoreDependencies)),
  canary('element-ignored', 'a task of an array does not wait', withEvents(ignoreElements), LATER),
  canary('retry-of-all', 'a retry runs what completed as well', withEvents(retryAll), LATER),
  ...[...AGENT_CANARIES, ...FILE_CANARIES, ...BATCH_CANARIES, ...POST_CANARIES].map((one) => {
    return { ...one, weather: { ...PLAIN, ...one.weather } };
  }),
  ...PLACE_CANARIES,
  ...SCHEDULER_CANARIES,
  ...GOAL_CANARIES,
];

function canary(
  name: string,
  sentence: string,
  plant: Canary['plant'],
  weather: Canary['weather'] = PLAIN,
): Canary {
  return { name, sentence, plant, weather };
}
