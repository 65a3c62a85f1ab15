// Names of backups: the instant at which each was begun, so that names sort as they were made.

const NAME = /^weft-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/;

/** `weft-20261127T154000Z`. */
export function nameOf(at: number): string {
  const [instant] = new Date(at).toISOString().split('.');
  return `weft-${instant?.replaceAll(/[-:]/g, '')}Z`;
}

/** Null: this is the name of something else. */
export function instantOf(name: string): number | null {
  const [, ...parts] = NAME.exec(name) ?? [];
  if (parts.length === 0) return null;
  const [year, month, day, hour, minute, second] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
}
