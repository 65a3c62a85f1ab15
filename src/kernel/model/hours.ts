// Hours of the week, such as `Mon-Fri 08:00-18:00`, in the local time of whoever reads them.

import { err, ok, type Result } from '../base/result.ts';

/** A local time as a clock on the wall shows it: 0 = Sunday, minutes since midnight. */
export interface LocalTime {
  readonly weekday: number;
  readonly minute: number;
}

/** One range. With `to` at or before `from` it goes on into the next day. */
interface Range {
  readonly weekdays: ReadonlySet<number>;
  readonly from: number;
  readonly to: number;
}

export interface Hours {
  readonly text: string;
  readonly ranges: readonly Range[];
}

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const DAY_MINUTES = 1440;
const PART = /^(?:([A-Za-z]+)(?:-([A-Za-z]+))?\s+)?(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})$/;
export const HOURS_FORM = "'Mon-Fri 08:00-18:00', several separated by commas";

/** Reads hours; without days a range holds every day. The error says which part is wrong. */
export function parseHours(text: string): Result<Hours, string> {
  const ranges: Range[] = [];
  for (const part of text.split(',').map((one) => one.trim())) {
    const range = parseRange(part);
    if (!range.ok) return err(`'${part}' ${range.error}; write ${HOURS_FORM}`);
    ranges.push(range.value);
  }
  return ok({ text, ranges });
}

function parseRange(part: string): Result<Range, string> {
  const match = PART.exec(part);
  if (match === null) return err('is no range of hours');
  const [, first, last, ...times] = match;
  const weekdays = parseDays(first, last);
  if (!weekdays.ok) return weekdays;
  const [fromHour = 0, fromMinute = 0, toHour = 0, toMinute = 0] = times.map(Number);
  const [from, to] = [fromHour * 60 + fromMinute, toHour * 60 + toMinute];
  if (fromMinute > 59 || toMinute > 59 || from >= DAY_MINUTES || to > DAY_MINUTES) {
    return err('has a time that is not between 00:00 and 24:00');
  }
  if (from === to) return err('begins when it ends');
  return ok({ weekdays: weekdays.value, from, to });
}

/** `Fri-Mon` goes over the end of the week. */
function parseDays(first: string | undefined, last = first): Result<Set<number>, string> {
  if (first === undefined || last === undefined) return ok(new Set(DAYS.keys()));
  const [from, to] = [first, last].map((name) => DAYS.indexOf(name.toLowerCase()));
  if (from === undefined || to === undefined || from < 0 || to < 0) {
    return err('has a day that is not one of Mon, Tue, Wed, Thu, Fri, Sat, Sun');
  }
  const days = new Set<number>();
  for (let day = from; ; day = (day + 1) % DAYS.length) {
    days.add(day);
    if (day === to) return ok(days);
  }
}

export function isWithin({ ranges }: Hours, { weekday, minute }: LocalTime): boolean {
  const yesterday = (weekday + DAYS.length - 1) % DAYS.length;
  return ranges.some(({ weekdays, from, to }) => {
    if (to > from) return weekdays.has(weekday) && minute >= from && minute < to;
    return (weekdays.has(weekday) && minute >= from) || (weekdays.has(yesterday) && minute < to);
  });
}
