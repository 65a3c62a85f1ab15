// A stream lasts for hours, and its reader may log out, lose the token or get another role
// meanwhile: it is asked again and again who reads, and the stream ends when that has changed.

import type { Result } from '../../base/result.ts';
import type { UserActor } from '../../model/actor.ts';
import type { Refusal } from '../../model/errors.ts';
import type { Principal } from '../auth/authenticate.ts';
import type { Services } from './services.ts';

/** The interval at which a silent stream says that it is alive, too. */
const ASK_MS = 15_000;

/** Aborts `gone` when the credentials no longer stand for `actor`, or for another role. */
export function endWithRights(
  { clock, log }: Pick<Services, 'clock' | 'log'>,
  {
    actor,
    ask,
    gone,
  }: {
    readonly actor: UserActor;
    readonly ask: () => Promise<Result<Principal, Refusal>>;
    readonly gone: AbortController;
  },
): void {
  if (gone.signal.aborted) return;
  const look = async (): Promise<void> => {
    const now = await ask();
    if (gone.signal.aborted) return;
    if (isStill(now, actor)) timer = clock.after(ASK_MS, start);
    else gone.abort();
  };
  const start = (): void => {
    look().catch((error: Error) => {
      log.error({ stack: error.stack }, 'who reads a stream could not be asked because of a bug');
      gone.abort();
    });
  };
  let timer = clock.after(ASK_MS, start);
  gone.signal.addEventListener('abort', () => timer.cancel());
}

function isStill(now: Result<Principal, Refusal>, { name, role }: UserActor): boolean {
  if (!now.ok || now.value.kind !== 'user') return false;
  return now.value.actor.name === name && now.value.actor.role === role;
}
