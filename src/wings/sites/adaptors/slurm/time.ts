// Time limits in Slurm's words.

/** `1-02:03:04`; Slurm counts in seconds, and a part of one is one. */
export function formatLimit(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = seconds % 86_400;
  const clock = `${two(rest / 3600)}:${two((rest % 3600) / 60)}:${two(rest % 60)}`;
  return `${Math.floor(seconds / 86_400)}-${clock}`;
}

/** Returns null when none, or nothing that is known. */
export function limitOf(text: string): number | null {
  const groups = /^(?:(?<days>\d+)-)?(?<hours>\d+):(?<minutes>\d+):(?<seconds>\d+)$/.exec(
    text,
  )?.groups;
  if (groups === undefined) return null;
  const { days = 0, hours, minutes, seconds } = groups;
  const inMinutes = (Number(days) * 24 + Number(hours)) * 60 + Number(minutes);
  return (inMinutes * 60 + Number(seconds)) * 1000;
}
