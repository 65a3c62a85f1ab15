// What a clock on the wall shows at this machine, in its own time zone.

/** 0 = Sunday, minutes since midnight. */
export function localTime(at: number): { readonly weekday: number; readonly minute: number } {
  const date = new Date(at);
  return { weekday: date.getDay(), minute: date.getHours() * 60 + date.getMinutes() };
}
