// Times of `--begin`, as our own has them.

const UNITS_OF_TIME: Readonly<Record<string, string>> = {
  second: 's',
  minute: 'm',
  hour: 'h',
  day: 'd',
  week: 'w',
};

const CLOCKS: Readonly<Record<string, string>> = {
  midnight: '00:00',
  noon: '12:00',
  fika: '15:00',
  teatime: '16:00',
  today: 'now',
};

/** `now+2hours`, `noon`, `1:30pm` and `01/31/26-16:00` in our words; other times are ours, too. */
export function beginOf(text: string): string {
  const plain = text.trim().toLowerCase();
  const [, count, unit = 'second'] =
    /^now\s*\+\s*(\d+)\s*(second|minute|hour|day|week)?s?$/.exec(plain) ?? [];
  if (count !== undefined)
    return unit === 'week' ? `+${Number(count) * 7}d` : `+${count}${UNITS_OF_TIME[unit]}`;
  if (Object.hasOwn(CLOCKS, plain)) return CLOCKS[plain] ?? text;
  const parts = plain.replace(/^(\d{1,2}[/.]\d{1,2}[/.]\d{2})-/, '$1 ').split(/\s+(?![ap]m)/);
  const clocks = parts.map(clockOf).filter((one) => one !== null);
  const days = parts.map(dayOf).filter((one) => one !== null);
  const isRead = clocks.length <= 1 && days.length <= 1 && clocks.length + days.length > 0;
  return isRead && clocks.length + days.length === parts.length
    ? [...days, ...clocks].join('T')
    : text;
}

/** `16:00`, `4:00pm`, `4:00:30 pm` and `noon` as hours and minutes of a day. */
function clockOf(text: string): string | null {
  const named = Object.hasOwn(CLOCKS, text) ? CLOCKS[text] : undefined;
  if (named !== undefined && named !== 'now') return named;
  const [, hour = '', rest, half] = /^(\d{1,2})((?::\d{2}){1,2})\s*([ap])?m?$/.exec(text) ?? [];
  if (rest === undefined) return null;
  if (half === undefined) return `${hour.padStart(2, '0')}${rest}`;
  const hours = (Number(hour) % 12) + (half === 'p' ? 12 : 0);
  return `${String(hours).padStart(2, '0')}${rest}`;
}

/** `2026-01-31`, `01/31/26`, `01.31.26` and `013126`; a year is always said. */
function dayOf(text: string): string | null {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return text;
  const [, month = '', day = '', year] =
    /^(\d{1,2})[/.](\d{1,2})[/.](\d{2})$/.exec(text) ?? /^(\d{2})(\d{2})(\d{2})$/.exec(text) ?? [];
  return year === undefined ? null : `20${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}
