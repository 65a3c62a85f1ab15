// The certificate by which agents and users know the head: made at the first start with a port, and
// kept. One that is gone is never replaced by another unasked: nobody would know that head.

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type HeadCertificate, makeCertificate } from '../head/auth/certificate.ts';
import { systemChance } from '../os/chance.ts';
import { systemClock } from '../os/clock.ts';
import { missingState } from './head-failure.ts';
import type { HeadOptions } from './head-options.ts';

/**
 * Reads it, or makes it where none ever was. `known`: the fingerprint that the cluster has been told,
 * null when none. Throws when the key or the certificate is missing.
 */
export async function certificateOf(
  options: HeadOptions,
  known: string | null,
): Promise<HeadCertificate> {
  const directory = join(options.directory, 'tls');
  const files = {
    certificate: join(directory, 'certificate.pem'),
    key: join(directory, 'key.pem'),
  };
  const missing = Object.values(files).filter((file) => !existsSync(file));
  const isFirst = missing.length === 2 && known === null;
  if (missing.length > 0) {
    if (!isFirst && options.newIdentity !== true) throw lostIdentity(missing, known);
    await make(options, directory, files);
  }
  chmodSync(files.key, 0o600);
  const certificatePem = readFileSync(files.certificate, 'utf8');
  return { certificatePem, keyPem: readFileSync(files.key, 'utf8') };
}

async function make(
  { publicNames, clusterName }: HeadOptions,
  directory: string,
  files: { readonly certificate: string; readonly key: string },
): Promise<void> {
  const names = [...new Set([...publicNames, hostname(), 'localhost', '127.0.0.1'])];
  const now = systemClock.now();
  const made = await makeCertificate({ clusterName, names, now, chance: systemChance });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(files.key, made.keyPem, { mode: 0o600 });
  writeFileSync(files.certificate, made.certificatePem);
}

function lostIdentity(missing: readonly string[], known: string | null) {
  const whom =
    known === null ? '' : ` Agents and users know this head by the fingerprint ${known}.`;
  return missingState(
    `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing.${whom}`,
    'Restore the files from a copy. Or start once with --new-identity: every node has to join again then.',
  );
}
