// Patterns of output files, as far as they can be judged before anything runs. What the fields of a
// pattern become is the agent's (agent/patterns.ts).

import type { OutputFiles } from './job.ts';

/**
 * The tasks of an array that wrote one file would cut off what the others wrote: a pattern that
 * names neither index nor task gets `.%a`. Devices are meant as they are.
 */
export function separateFiles(files: OutputFiles): OutputFiles {
  const { stdout, stderr } = files;
  return {
    ...files,
    ...(stdout === undefined ? {} : { stdout: separate(stdout) }),
    ...(stderr === undefined ? {} : { stderr: separate(stderr) }),
  };
}

/** The first unknown `%` field: it would stand in the name as it is. Null: there is none. */
export function unknownField(pattern: string): string | null {
  return (
    [...pattern.matchAll(/%\d{0,2}(.)/g)].find(([, field = '']) => !FIELDS.includes(field))?.[0] ??
    null
  );
}

/** Those that `agent/patterns.ts` fills in. */
const FIELDS = 'jatenpNxu%';

/** Files in memory below /dev/shm are files like others. */
const DEVICE = /^\/dev\/(?!shm\/)/;

function separate(pattern: string): string {
  const fields = [...pattern.matchAll(/%\d{0,2}(.)/g)].map(([, field]) => field);
  const isOwn = fields.includes('a') || fields.includes('t') || DEVICE.test(pattern);
  return isOwn ? pattern : `${pattern}.%a`;
}

/**
 * In a directory that is removed with the job, output files of relative names would go with it:
 * these streams are captured instead.
 */
export function filesThatStay({ stdout, stderr, ...others }: OutputFiles): OutputFiles {
  return {
    ...others,
    ...(stdout?.startsWith('/') ? { stdout } : {}),
    ...(stderr?.startsWith('/') ? { stderr } : {}),
  };
}
