// What the owner of a machine asks its agent about cards: to keep one, or to give it back.

import type { AtSocket } from '../../../kernel/agent/part.ts';
import { err, ok } from '../../../kernel/base/result.ts';
import { isWhole } from '../../../kernel/base/whole.ts';
import type { KeepReply } from '../../../kernel/model/agent-socket.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { cardLabel, type GpuCard } from '../../../kernel/model/gpu.ts';
import { refusePause } from '../../../kernel/model/pause.ts';
import type { Clock } from '../../../kernel/ports/clock.ts';
import { mayPause, type PauseRights } from '../../owner/agent/listener/rights.ts';
import { cardNamed } from '../core/keeps.ts';
import type { Keep } from '../model/keep.ts';

export interface KeepingWorld {
  readonly node: string;
  /** Those of pauses. */
  readonly rights: PauseRights;
  /** Longest time that anybody may ask for. */
  readonly maxMs: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly cards: () => readonly GpuCard[];
  /** Tasks that have the card. */
  readonly tasksOn: (card: GpuCard) => readonly string[];
  readonly isKept: (uuid: string) => boolean;
  /** In place of what was kept of the card; null: it is given again. */
  readonly keep: (uuid: string, keep: Keep | null) => void;
}

/** `gpu`: its number or uuid; `durationMs` 0: it is given again. */
export function keeping(world: KeepingWorld): AtSocket {
  const { node, rights, maxMs, clock } = world;
  return async (user, { gpu, durationMs }) => {
    const allowed = await mayPause(rights, node, user);
    if (!allowed.ok) return allowed;
    if (typeof gpu !== 'string' || !isWhole(durationMs, 0, Number.MAX_SAFE_INTEGER)) {
      return err(refuse('request.malformed', { what: 'gpu and durationMs in ms are expected' }));
    }
    const cards = world.cards();
    const card = cardNamed(cards, gpu);
    if (card === undefined) {
      const own =
        cards.length === 0 ? 'it has none' : `its gpus: ${cards.map(cardLabel).join(', ')}`;
      return err(refuse('argument.invalid', { what: `node ${node} has no gpu '${gpu}' (${own})` }));
    }
    const lastsMs = durationMs as number;
    const refusal = lastsMs === 0 ? null : refusePause(node, lastsMs, maxMs);
    if (refusal !== null) return err(refusal);
    const { uuid } = card;
    const since = clock.now();
    const until = since + lastsMs;
    const wasKept = world.isKept(uuid);
    world.keep(uuid, lastsMs === 0 ? null : { uuid, by: user.name, since, until });
    const tasks = world.tasksOn(card);
    const why = world.cards().find((one) => one.uuid === uuid)?.why ?? null;
    const reply = { node, gpu: cardLabel(card), until, tasks: [...tasks], wasKept, why };
    return ok(reply satisfies KeepReply);
  };
}
