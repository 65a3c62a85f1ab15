// The name of a job's file as it is on disk, as far as the job's own words say it.

import type { JobDetail } from '../../../kernel/api/jobs.ts';

/** `index`: null: of a plain job, or of all tasks of an array. What nodes alone know stays. */
export function outputName(
  { id, name, owner }: Pick<JobDetail, 'id' | 'name' | 'owner'>,
  file: string,
  index: number | null,
): string {
  const said: Readonly<Record<string, string | undefined>> = {
    j: String(id),
    a: index === null ? undefined : String(index),
    x: name,
    u: owner,
  };
  return file.replace(/%(\d{0,2})([jaxu])/g, (whole, width: string, letter: string) => {
    return said[letter]?.padStart(Number(width), '0') ?? whole;
  });
}
