// The commands of a batch system, as programs of a folder for PATH.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIALECTS } from './dialects.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples/adaptor');
/** Systems that are driven by the example of a program for them. */
const PROGRAMS: Readonly<Record<string, (top: string) => string>> = {
  ccs: (top) => `${EXAMPLES}/ccs,${join(top, 'nodes')}`,
  loadleveler: () => `${EXAMPLES}/loadleveler`,
};
const FAKE = join(import.meta.dirname, 'fake.ts');

/** @param top a folder of its own; returned is the folder for PATH */
export function installFake(system: string, top: string): string {
  const bin = join(top, 'bin');
  mkdirSync(bin, { recursive: true });
  for (const program of Object.keys(DIALECTS[system] ?? {})) {
    const words = [process.execPath, FAKE, system, join(top, 'state'), program];
    const file = join(bin, program);
    writeFileSync(file, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`);
    chmodSync(file, 0o755);
  }
  if (system === 'ccs') writeFileSync(join(top, 'nodes'), 'n1 2\nn2 2\n');
  return bin;
}

/** Keys below `site` for the gateway of such a system. */
export function fakeKeys(system: string, top: string): Record<string, string> {
  const program = PROGRAMS[system]?.(top);
  return program === undefined
    ? { system, poll: '500ms' }
    : { system: 'script', program, poll: '500ms' };
}
