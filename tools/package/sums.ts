// SHA256SUMS of what was made, and its signature where there is a key.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * What a signature is for (ssh-keygen(1), -n): none that was made for something else counts here.
 */
const PURPOSE = 'weft-release';

/** In the form of sha256sum(1); the file that was made. */
export function writeSums(files: readonly string[], out: string): string {
  const lines = files
    .map((file) => {
      const sum = createHash('sha256').update(readFileSync(file)).digest('hex');
      return `${sum}  ${path.basename(file)}\n`;
    })
    .sort((one, other) => (one.slice(66) < other.slice(66) ? -1 : 1));
  const sums = path.join(out, 'SHA256SUMS');
  writeFileSync(sums, lines.join(''));
  return sums;
}

/** `key`: a private key of ssh-keygen(1); an ed25519 key gives the same bytes each time. */
export function signSums(sums: string, key: string): string {
  const signature = `${sums}.sig`;
  // It asks before it writes over one.
  rmSync(signature, { force: true });
  const args = ['-q', '-Y', 'sign', '-n', PURPOSE, '-f', key, sums];
  const done = spawnSync('ssh-keygen', args, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`ssh-keygen: ${done.error?.message ?? done.stderr}`);
  return signature;
}
