// Instants as text. Here because messages of the core name times, and the core has no `Date`.

const DAY_MS = 86_400_000;

/** Ms since 1970 as ISO 8601 in UTC, whole seconds: `2026-03-29T01:00:00Z`. */
export function formatInstant(at: number): string {
  const day = Math.floor(at / DAY_MS);
  const second = Math.floor((at - day * DAY_MS) / 1000);
  const clock = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60];
  return `${formatDay(day)}T${clock.map(twoDigits).join(':')}Z`;
}

/**
 * The date of a day counted from 1970, by Hinnant's "days to civil": years begin in March, so that
 * the leap day is the last of its year, and repeat every 400.
 */
function formatDay(day: number): string {
  const fromEra = day + 719_468;
  const era = Math.floor(fromEra / 146_097);
  const dayOfEra = fromEra - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524);
  const yearOfEra = Math.floor((dayOfEra - leaps - Math.floor(dayOfEra / 146_096)) / 365);
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const dayOfMonth = dayOfYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  const month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  const year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0);
  return `${String(year).padStart(4, '0')}-${twoDigits(month)}-${twoDigits(dayOfMonth)}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
