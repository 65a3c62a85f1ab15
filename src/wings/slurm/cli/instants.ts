// Instants as commands of Slurm write them, in the time of this machine.

/** `2026-11-28T19:59:31`. */
export const instant = (at: number | null): string => {
  if (at === null) return 'N/A';
  const date = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19);
};

/** `Sat Nov 28 19:59:31 2026`, as of ctime(3). */
export function dateLine(now: number): string {
  const [day = '', month = '', date = '', year = '', clock = ''] = String(new Date(now)).split(' ');
  return `${day} ${month} ${date} ${clock} ${year}`;
}
