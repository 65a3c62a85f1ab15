// When a recurring reservation comes next. Cron and time zones are read here, in the shell: the
// core gets the instants, and the journal keeps what was made of them.

import { Cron } from 'croner';
import { err, ok, type Result } from '../core/base/result.ts';
import type { Occurrences } from '../core/controller/commands.ts';
import { type Refusal, refuse } from '../core/model/errors.ts';
import { RESERVATION_SLOTS_AHEAD } from '../core/model/limits.ts';
import type { Recurrence } from '../core/model/reservation.ts';
import type { Engine } from './engine.ts';

/** The starts after an instant, at most so many; fewer when there are no more. */
export function nextStarts(
  { cron, zone }: Recurrence,
  after: number,
  count: number,
): Result<number[], Refusal> {
  try {
    const pattern = new Cron(cron, { timezone: zone, mode: '5-part', paused: true });
    return ok(pattern.nextRuns(count, new Date(after)).map((at) => at.getTime()));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const what = `'${cron}' in ${zone} is no recurrence (${why}); write five fields, such as '0 9 * * 1-5', and a time zone, such as Europe/Berlin`;
    return err(refuse('argument.invalid', { what }));
  }
}

/** A recurrence with the starts that are placed at once. */
export function occurrencesOf(recurrence: Recurrence, now: number): Result<Occurrences, Refusal> {
  const starts = nextStarts(recurrence, now, RESERVATION_SLOTS_AHEAD);
  return starts.ok ? ok({ ...recurrence, starts: starts.value }) : starts;
}

/**
 * Keeps enough occurrences decided ahead; asked with every tick. Those skipped count too: else what
 * stands in the way for a minute would cost every occurrence there will ever be.
 */
export function extendReservations(engine: Pick<Engine, 'state' | 'now' | 'perform'>): void {
  const now = engine.now();
  for (const { id, recurrence, request, ...known } of engine.state.reservations.values()) {
    const skipped = known.skipped.filter(({ from }) => from > now).length;
    const missing = RESERVATION_SLOTS_AHEAD - known.slots.length - skipped;
    if (recurrence === null || missing <= 0) continue;
    // What went by while the head was away is not gone through.
    const after = Math.max(known.placedUntil, now - request.durationMs);
    const starts = nextStarts(recurrence, after, missing);
    // It was read when it was made; a system that has lost its time zones meanwhile places none.
    if (!starts.ok) continue;
    const command = { kind: 'extend_reservation', id, starts: starts.value } as const;
    engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, () => undefined);
  }
}
