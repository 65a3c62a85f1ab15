// A user's program: asks the head, hears nothing, asks again. Submissions carry a key and are
// repeated until they are answered.

import type { Result } from '../src/kernel/base/result.ts';
import type { Command } from '../src/kernel/machine/declared.ts';
import type { Reply } from '../src/kernel/machine/reply.ts';
import type { UserActor } from '../src/kernel/model/actor.ts';
import { kindOf, type Refusal } from '../src/kernel/model/errors.ts';
import type { UserName } from '../src/kernel/model/ids.ts';
import type { Streams } from './chance.ts';
import type { Time } from './clock.ts';
import type { HeadHost } from './head-host.ts';

export interface ClientWorld {
  readonly time: Time;
  readonly streams: Streams;
  readonly host: HeadHost;
  readonly lostAnswers: number;
}

export type Answered = (result: Result<Reply, Refusal>) => void;

/** No answer for this long: the client tries again. */
const PATIENCE_MS = 3000;

/** An operator: may do what users may, and look after nodes. */
export function operator(name: string): UserActor {
  return { kind: 'user', name: name as UserName, uid: null, role: 'admin' };
}

export class Client {
  readonly #world: ClientWorld;

  constructor(world: ClientWorld) {
    this.#world = world;
  }

  /** Asks until there is an answer other than "later"; it comes once. */
  ask(command: Command, actor: UserActor, answered: Answered): void {
    let settled = false;
    const attempt = (): void => {
      if (settled) return;
      this.#try(command, actor, (result) => {
        if (settled || isLater(result)) return;
        settled = true;
        answered(result);
      });
      this.#world.time.after(PATIENCE_MS, attempt);
    };
    attempt();
  }

  /** Asks once; the answer may never come, and then it is not known whether it happened. */
  once(command: Command, actor: UserActor): void {
    this.#try(command, actor, () => undefined);
  }

  #try(command: Command, actor: UserActor, answered: Answered): void {
    const { time, streams, host, lostAnswers } = this.#world;
    const dice = streams.of(command.kind);
    time.after(dice.whole(1, 5), () => {
      host.execute(command, actor, (result) => {
        if (dice.happens(lostAnswers)) return;
        time.after(dice.whole(1, 5), () => answered(result));
      });
    });
  }
}

function isLater(result: Result<Reply, Refusal>): boolean {
  return !result.ok && kindOf(result.error.code) === 'unavailable';
}
