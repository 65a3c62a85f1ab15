// The planted bugs about notifications: who is told, when, and what is noted of it.

import { ok } from '../src/kernel/base/result.ts';
import { Engine } from '../src/kernel/head/engine.ts';
import { Step } from '../src/kernel/machine/step.ts';
import { Notifying } from '../src/wings/notify/head/notifying.ts';
import type { NotificationCommand } from '../src/wings/notify/machine/events.ts';
import { type Canary, type CanaryWorld, type Planted, replaceMethod } from './canary.ts';

type Perform = Engine['perform'];

/** Heads that make something else of how an attempt went; null: they forget it. */
function withAttempt(
  change: (command: NotificationCommand) => NotificationCommand | null,
): () => Planted {
  return () => ({
    remove: replaceMethod(Engine.prototype, 'perform', (original) => {
      return function perform(this: Engine, ...[input, done]: Parameters<Perform>): void {
        if (input.kind !== 'command' || input.command.kind !== 'note_attempt') {
          return original.call(this, input, done);
        }
        const command = change(input.command);
        if (command === null) done(ok({ kind: 'changed', count: 1 }));
        else original.call(this, { ...input, command }, done);
      };
    }),
  });
}

/** One after the other: whoever hangs holds up all. */
function oneAtATime(world: CanaryWorld): Planted {
  return {
    remove: replaceMethod(Notifying.prototype, 'tick', (original) => {
      return function tick(this: Notifying): void {
        if (world.post.open.size === 0) original.call(this);
      };
    }),
  };
}

function tellEarly(): Planted {
  return { remove: replaceMethod(Engine.prototype, 'settled', () => () => Promise.resolve()) };
}

/** Once, and then no more. */
function giveUpAtOnce(): Planted {
  return {
    remove: replaceMethod(Step.prototype, 'emit', (original) => {
      return function emit(this: Step, event: Parameters<Step['emit']>[0]): void {
        if (event.kind !== 'notification_failed') return original.call(this, event);
        const { subject, delivery, why } = event;
        original.call(this, { kind: 'notification_given_up', subject, delivery, why });
      };
    }),
  };
}

/** Much to tell, and a head that lives long enough to do it. */
const TOLD = { notify: 0.8, submissionMs: 1000, headCrashMs: null, stormMs: 120_000 } as const;

export const POST_CANARIES: readonly Canary[] = [
  {
    name: 'told-too-early',
    sentence: 'somebody is told of an end that a crash may take back',
    plant: tellEarly,
    weather: { ...TOLD, commitMs: { min: 1, max: 600 } },
  },
  {
    name: 'told-again',
    sentence: 'it is not noted that somebody was told',
    plant: withAttempt((command) => (command.attempt.kind === 'told' ? null : command)),
    weather: TOLD,
  },
  {
    name: 'failure-counts-as-told',
    sentence: 'whoever could not be reached counts as told',
    plant: withAttempt((command) => ({ ...command, attempt: { kind: 'told' } })),
    weather: TOLD,
  },
  {
    name: 'given-up-at-once',
    sentence: 'one failure, and somebody is never told',
    plant: giveUpAtOnce,
    weather: TOLD,
  },
  {
    name: 'one-told-at-a-time',
    sentence: 'a target that hangs holds up all others',
    plant: oneAtATime,
    weather: TOLD,
  },
];
