// The commands of a batch system, as programs of a folder for PATH.

import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DIALECTS } from './dialects.ts';

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
  return bin;
}
