// Names of the machine's own accounts; whoever comes from a directory is told by number.

import { readOrNull } from '../../owner/os/detector.ts';

export function accountNames(): ReadonlyMap<string, string> {
  const lines = (readOrNull('/etc/passwd') ?? '').split('\n');
  return new Map(
    lines.flatMap((line) => {
      const [name, , uid] = line.split(':');
      return name === undefined || uid === undefined ? [] : [[uid, name] as const];
    }),
  );
}
