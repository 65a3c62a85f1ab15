// Formats of strftime(3), in the words of the C locale and the time of this machine.

const DAYS = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');
const MONTHS =
  'January February March April May June July August September October November December'.split(
    ' ',
  );
const DAY_MS = 86_400_000;

const two = (value: number): string => String(value).padStart(2, '0');
const day = (date: Date): string => DAYS[date.getDay()] ?? '';
const month = (date: Date): string => MONTHS[date.getMonth()] ?? '';

const FIELDS: Readonly<Record<string, (date: Date) => string>> = {
  '%': () => '%',
  A: day,
  a: (date) => day(date).slice(0, 3),
  B: month,
  b: (date) => month(date).slice(0, 3),
  d: (date) => two(date.getDate()),
  e: (date) => String(date.getDate()).padStart(2),
  H: (date) => two(date.getHours()),
  I: (date) => two(date.getHours() % 12 || 12),
  j: (date) => String(dayOfYear(date)).padStart(3, '0'),
  M: (date) => two(date.getMinutes()),
  m: (date) => two(date.getMonth() + 1),
  n: () => '\n',
  p: (date) => (date.getHours() < 12 ? 'AM' : 'PM'),
  S: (date) => two(date.getSeconds()),
  s: (date) => String(Math.floor(date.getTime() / 1000)),
  t: () => '\t',
  u: (date) => String(date.getDay() || 7),
  w: (date) => String(date.getDay()),
  Y: (date) => String(date.getFullYear()),
  y: (date) => two(date.getFullYear() % 100),
  z: zone,
};

const WHOLE: Readonly<Record<string, string>> = {
  c: '%a %b %e %H:%M:%S %Y',
  D: '%m/%d/%y',
  F: '%Y-%m-%d',
  h: '%b',
  R: '%H:%M',
  r: '%I:%M:%S %p',
  T: '%H:%M:%S',
  X: '%H:%M:%S',
  x: '%m/%d/%y',
};

/** An instant by a format: `%-d` has no zero or blank before it, and unknown letters stay. */
export function strftime(format: string, date: Date): string {
  const plain = format.replace(/%([a-zA-Z%])/g, (said, letter: string) => WHOLE[letter] ?? said);
  return plain.replace(/%(-?)([a-zA-Z%])/g, (said, sign: string, letter: string) => {
    const text = FIELDS[letter]?.(date);
    if (text === undefined) return said;
    return sign === '-' ? text.replace(/^[0 ]+(?=.)/, '') : text;
  });
}

function dayOfYear(date: Date): number {
  const of = (year: number, at: number, number: number) => Date.UTC(year, at, number);
  const first = of(date.getFullYear(), 0, 1);
  return 1 + (of(date.getFullYear(), date.getMonth(), date.getDate()) - first) / DAY_MS;
}

function zone(date: Date): string {
  const minutes = -date.getTimezoneOffset();
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}${two(size % 60)}`;
}
