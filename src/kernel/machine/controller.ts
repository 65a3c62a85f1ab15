// The head's pure machine: an input becomes events (decide), events change the state (apply), and
// the state says what agents must be told (outstanding).

import { present } from '../base/assert.ts';
import { ok, type Result } from '../base/result.ts';
import type { Actor } from '../model/actor.ts';
import type { ClockReading } from '../model/clock.ts';
import type { Refusal } from '../model/errors.ts';
import type { NodeGpus } from '../model/gpu.ts';
import type { NodeName } from '../model/ids.ts';
import type { Life } from '../model/life.ts';
import type { GivenNumbers, LostRecords } from '../model/loss.ts';
import type { NodeHello } from '../model/node.ts';
import type { Report } from '../model/orders.ts';
import type { Settings } from '../model/settings.ts';
import type { Command, Event } from './declared.ts';
import type { StepRecord } from './events.ts';
import { decideClock } from './head/clock.ts';
import {
  type Birth,
  decideHeard,
  type Heard,
  keptUntil,
  lifeAfterLoss,
  nextLife,
} from './head/lives.ts';
import { awaitBeginAgain } from './jobs/jobs.ts';
import { refuseClone } from './nodes/clones.ts';
import { decideGpus } from './nodes/gpus.ts';
import {
  decideDisconnected,
  decideFault,
  decideFenced,
  decideHello,
  decideSilence,
} from './nodes/sessions.ts';
import { apply } from './nouns.ts';
import type { OwnInputs } from './part.ts';
import type { Reply } from './reply.ts';
import { type CycleOptions, decideSchedule, noteDueCycle } from './schedule.ts';
import type { State } from './state.ts';
import { type Answer, Step } from './step.ts';
import { decideReport } from './tasks/report.ts';
import { decideUsageRules } from './users/usage.ts';

export type Input =
  /**
   * `birth`: absent where nobody counts lives; `clock`: where nothing but the wall clock is read;
   * `skipped`: numbers to go on with, of a store that was copied to where it is.
   */
  | {
      readonly kind: 'started';
      readonly birth?: Birth;
      readonly clock?: ClockReading;
      readonly skipped?: GivenNumbers;
    }
  /** Wall clock and the one that never jumps do not go together any more. */
  | { readonly kind: 'clock'; readonly clock: ClockReading }
  /** Accepted records are missing, and an operator said to go on without them. */
  | {
      readonly kind: 'loss';
      readonly loss: Omit<LostRecords, 'at' | 'jobIdFrom'>;
      readonly birth?: Birth;
    }
  | { readonly kind: 'identity'; readonly fingerprint: string }
  | { readonly kind: 'command'; readonly command: Command; readonly actor: Actor }
  /**
   * `known`: what the node knows of this head; its proof has been looked at. `heardMsAgo`: since
   * the node was heard in its session; absent: not since the head started.
   */
  | {
      readonly kind: 'hello';
      readonly hello: NodeHello;
      readonly known?: Heard;
      readonly heardMsAgo?: number;
    }
  | {
      readonly kind: 'fault';
      readonly node: NodeName;
      readonly session: number;
      readonly fault: string | null;
    }
  | {
      readonly kind: 'gpus';
      readonly node: NodeName;
      readonly session: number;
      readonly gpus: NodeGpus;
    }
  | { readonly kind: 'disconnected'; readonly node: NodeName; readonly session: number }
  | {
      readonly kind: 'report';
      readonly node: NodeName;
      readonly session: number;
      readonly report: Report;
    }
  /** Nothing was heard of the node for this long, by a clock that never jumps. */
  | { readonly kind: 'silence'; readonly node: NodeName; readonly silentMs: number }
  /** The site's fence command has confirmed that the node is off; asked for in this session. */
  | { readonly kind: 'fenced'; readonly node: NodeName; readonly session: number }
  | { readonly kind: 'tick' }
  | ({ readonly kind: 'schedule' } & CycleOptions)
  | OwnInputs[keyof OwnInputs];

export interface Decision {
  /** Already applied; to be written as one record unless empty. */
  readonly events: readonly Event[];
  readonly result: Result<Reply, Refusal>;
}

const DONE: Reply = { kind: 'done' };

export function decide(state: State, input: Input, settings: Settings, at: number): Decision {
  const step = stepOf(state, settings, at);
  const result = decideInput(step, input) ?? ok(DONE);
  return { events: step.events, result };
}

/** For one input, or to ask what would become of one: then nothing may be emitted. */
export function stepOf(state: State, settings: Settings, at: number): Step {
  return new Step(state, { settings, at, apply });
}

type Decider = (step: Step, command: Command, actor: Actor) => Answer;
type Deciders = Readonly<Record<Command['kind'], Decider>>;

function decideCommand(step: Step, command: Command, actor: Actor): Answer {
  const one = (step.state.machine.commands as Deciders)[command.kind] as Decider;
  return one(step, command, actor);
}

function decideTime(step: Step, reading: ClockReading): void {
  if (decideClock(step, reading)) awaitBeginAgain(step);
}

function decideTick(step: Step): void {
  for (const noun of step.state.machine.nouns) noun.due?.(step);
  noteDueCycle(step);
}

/** A copy's word of its head counts as little as its word of what it holds. */
function decideGreeting(step: Step, input: Extract<Input, { kind: 'hello' }>): Answer {
  const { hello, known, heardMsAgo } = input;
  const refused = refuseClone(step, hello, heardMsAgo);
  if (refused !== null) return refused;
  if (known !== undefined) decideHeard(step, hello.node, known);
  return decideHello(step, hello);
}

function decideInput(step: Step, input: Input): Result<Reply, Refusal> | undefined {
  switch (input.kind) {
    case 'started':
      if (input.clock !== undefined) decideTime(step, input.clock);
      step.emit({ kind: 'head_started', ...born(input.birth, step.state, nextLife) });
      if (input.skipped !== undefined) step.emit(storeCopied(step.state, input.skipped));
      return void decideUsageRules(step);
    case 'clock':
      return void decideTime(step, input.clock);
    case 'loss':
      return void decideLoss(step, input);
    case 'identity':
      if (step.state.identity === input.fingerprint) return undefined;
      return void step.emit({ kind: 'identity_known', fingerprint: input.fingerprint });
    case 'command':
      return decideCommand(step, input.command, input.actor);
    case 'hello':
      return decideGreeting(step, input);
    case 'fault':
      return void decideFault(step, input.node, input.session, input.fault);
    case 'gpus':
      return void decideGpus(step, input);
    case 'disconnected':
      return void decideDisconnected(step, input.node, input.session);
    case 'report':
      return void decideReport(step, input.node, input.session, input.report);
    case 'silence':
      return void decideSilence(step, input.node, input.silentMs);
    case 'fenced':
      return void decideFenced(step, input.node, input.session);
    case 'tick':
      return void decideTick(step);
    case 'schedule':
      return void decideSchedule(step, input);
    default:
      return void decideOfWing(step, input);
  }
}

/** What only a wing has inputs of. */
function decideOfWing(step: Step, input: { readonly kind: string }): void {
  const { inputs } = step.state.machine;
  const one = (inputs as Readonly<Record<string, (step: Step, input: object) => void>>)[input.kind];
  present(one, `a wing for the input ${input.kind}`)(step, input);
}

function decideLoss(step: Step, { loss, birth }: Extract<Input, { kind: 'loss' }>): void {
  const since = keptUntil(step.state, loss.lastSeq);
  const jobIdFrom = firstLost(step.state, loss.jobIdTo);
  const from = { jobIdFrom, ...(since === null ? {} : { since }) };
  const life = born(birth, step.state, lifeAfterLoss);
  step.emit({ kind: 'loss_accepted', loss: { ...loss, ...from }, ...life });
}

/** The ids of what a copied store lacks are among those skipped when it was found a copy. */
function firstLost({ copied, nextJobId }: State, jobIdTo: number | undefined): number {
  if (copied === null || jobIdTo === undefined || jobIdTo >= copied.nextJobId) return nextJobId;
  return copied.jobIdFrom;
}

function storeCopied({ nextJobId }: State, given: GivenNumbers): Event {
  return { kind: 'store_copied', jobIdFrom: nextJobId, given };
}

function born(
  birth: Birth | undefined,
  state: State,
  next: (state: State, birth: Birth) => Life,
): { readonly life?: Life } {
  return birth === undefined ? {} : { life: next(state, birth) };
}

/** Brings a recorded step back. */
export function replay(state: State, record: StepRecord): void {
  for (const event of record.events) apply(state, event, record.at);
  state.scratch.touched.length = 0;
  state.scratch.freed.clear();
  state.scratch.endedEpochs.length = 0;
  state.scratch.changedJobs.clear();
}
