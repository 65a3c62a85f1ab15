// When a recurring reservation comes next. Cron and time zones are read here, in the shell: the
// core gets the instants, and the journal keeps what was made of them.

import { Cron } from 'croner';
import { didYouMean } from '../base/nearest-word.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { Occurrences } from '../machine/reservations/commands.ts';
import { type Refusal, refuse } from '../model/errors.ts';
import { RESERVATION_SLOTS_AHEAD } from '../model/limits.ts';
import type { Recurrence } from '../model/reservation.ts';
import type { Engine } from './engine.ts';

/** The starts after an instant, at most so many; fewer when there are no more. */
export function nextStarts(
  { cron, zone }: Recurrence,
  after: number,
  count: number,
): Result<number[], Refusal> {
  const wrong = wrongZone(zone) ?? wrongFields(cron);
  if (wrong !== null) return err(refuse('argument.invalid', { what: wrong }));
  try {
    const pattern = new Cron(cron, { timezone: zone, mode: '5-part', paused: true });
    return ok(pattern.nextRuns(count, new Date(after)).map((at) => at.getTime()));
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^Cron\w+: /, '') : String(error);
    return err(refuse('argument.invalid', { what: `cron '${cron}': ${why}; ${FIELDS}` }));
  }
}

const FIELDS = "write minute, hour, day, month and weekday, such as '0 9 * * 1-5' or '0 9 * * MON'";

function wrongFields(cron: string): string | null {
  const fields = cron.trim().split(/\s+/).length;
  return fields === 5 ? null : `cron '${cron}': five fields are expected, not ${fields}; ${FIELDS}`;
}

function wrongZone(zone: string): string | null {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return null;
  } catch {
    const places = Intl.supportedValuesOf('timeZone');
    const place = places.find((one) => one.toLowerCase().endsWith(`/${zone.toLowerCase()}`));
    const meant = place === undefined ? didYouMean(zone, places) : ` Did you mean '${place}'?`;
    return `'${zone}' is no time zone; write one such as Europe/Berlin or UTC.${meant}`;
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
    // All of them are asked about anew when the clock has gone back.
    const count = known.placedUntil === 0 ? RESERVATION_SLOTS_AHEAD : missing;
    if (recurrence === null || count <= 0) continue;
    // What went by while the head was away is not gone through.
    const after = Math.max(known.placedUntil, now - request.durationMs);
    const starts = nextStarts(recurrence, after, count);
    // It was read when it was made; a system that has lost its time zones meanwhile places none.
    if (!starts.ok) continue;
    const command = { kind: 'extend_reservation', id, starts: starts.value } as const;
    engine.perform({ kind: 'command', command, actor: { kind: 'system' } }, () => undefined);
  }
}
