// The certificate by which agents and users know the head: made at the first start with a port, and
// kept. One that is gone is never replaced by another unasked: nobody would know that head.

import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { identityShown } from '../kernel/base/pinned-certificate.ts';
import {
  endOf,
  fingerprintOf,
  type HeadCertificate,
  isMadeHere,
  makeCertificate,
  namesIn,
  RENEWED_BEFORE_MS,
  renewCertificate,
} from '../kernel/head/auth/certificate.ts';
import { systemChance } from '../kernel/os/chance.ts';
import { systemClock } from '../kernel/os/clock.ts';
import { certificateIn } from '../kernel/os/head-stream.ts';
import type { Log } from '../kernel/ports/log.ts';
import { unusableState } from './head-failure.ts';
import type { HeadOptions } from './head-options.ts';

interface Files {
  readonly certificate: string;
  readonly key: string;
}

/**
 * Reads it, or makes it where none ever was. `known`: the fingerprint that the cluster has been
 * told, null when none. Throws when the key or the certificate is missing or damaged.
 */
export async function certificateOf(
  options: HeadOptions,
  known: string | null,
  warn: Log['warn'],
): Promise<HeadCertificate> {
  const directory = join(options.directory, 'tls');
  const files = {
    certificate: join(directory, 'certificate.pem'),
    key: join(directory, 'key.pem'),
  };
  finishMaking(files);
  const problem = problemOf(files);
  const isFirst = known === null && !existsSync(files.key) && !existsSync(files.certificate);
  if (problem !== null) {
    if (!isFirst && options.newIdentity !== true) throw lostIdentity(problem, known);
    await make(options, directory, files);
  }
  chmodSync(files.key, 0o600);
  return await withRenewed(options, read(files), { file: join(directory, 'renewed.pem'), warn });
}

/**
 * The one that is shown in its place once it nears its end, which is renewed in turn. Agents and
 * users know the head as before.
 */
async function withRenewed(
  options: HeadOptions,
  own: HeadCertificate,
  { file, warn }: { readonly file: string; readonly warn: Log['warn'] },
): Promise<HeadCertificate> {
  const now = systemClock.now();
  const isNear = (pem: string): boolean => endOf(pem) - now < RENEWED_BEFORE_MS;
  if (!isMadeHere(own) || !isNear(own.certificatePem)) return own;
  const before = renewedIn(file, own);
  if (before !== null && !isNear(before)) return { ...own, renewedPem: before };
  const { clusterName } = options;
  const names = [...new Set([...namesIn(own.certificatePem), ...namesOf(options)])];
  const about = { clusterName, names, now, chance: systemChance };
  try {
    const renewedPem = await renewCertificate(own, about);
    writeFileSync(draftOf(file), renewedPem, { flush: true });
    renameSync(draftOf(file), file);
    return { ...own, renewedPem };
  } catch (error) {
    // The one that is there is good for months more, and doctor says until when.
    warn({ error, file }, 'the certificate could not be renewed; the next start tries again');
    return before === null ? own : { ...own, renewedPem: before };
  }
}

/** The renewed certificate in the file; null: none, a damaged one, or one of another key. */
function renewedIn(file: string, { certificatePem, keyPem }: HeadCertificate): string | null {
  if (!existsSync(file)) return null;
  const pem = readFileSync(file, 'utf8');
  const renewed = parsed(() => new X509Certificate(pem));
  const isOurs = renewed?.checkPrivateKey(createPrivateKey(keyPem)) === true;
  return isOurs && identityShown(renewed, certificateIn) === fingerprintOf(certificatePem)
    ? pem
    : null;
}

function read({ certificate, key }: Files): HeadCertificate {
  return { certificatePem: readFileSync(certificate, 'utf8'), keyPem: readFileSync(key, 'utf8') };
}

function namesOf({ publicNames }: Pick<HeadOptions, 'publicNames'>): string[] {
  return [...new Set([...publicNames, hostname(), 'localhost', '127.0.0.1'])];
}

/** In the order of `finishMaking`: what a head killed in between leaves, the next one finishes. */
async function make(
  { publicNames, clusterName }: HeadOptions,
  directory: string,
  files: Files,
): Promise<void> {
  const names = namesOf({ publicNames });
  const now = systemClock.now();
  const made = await makeCertificate({ clusterName, names, now, chance: systemChance });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  writeFileSync(draftOf(files.certificate), made.certificatePem, { flush: true });
  writeFileSync(draftOf(files.key), made.keyPem, { mode: 0o600, flush: true });
  renameSync(draftOf(files.key), files.key);
  renameSync(draftOf(files.certificate), files.certificate);
}

/** Where the key was in its place already, and only its certificate not yet. */
function finishMaking(files: Files): void {
  const drafted = { ...files, certificate: draftOf(files.certificate) };
  if (!existsSync(drafted.certificate)) return;
  if (problemOf(files) === null || problemOf(drafted) !== null) return;
  renameSync(drafted.certificate, files.certificate);
}

function draftOf(file: string): string {
  return `${file}.new`;
}

/** A sentence about what is missing or damaged; null when all is well. */
function problemOf(files: Files): string | null {
  const missing = [files.certificate, files.key].filter((file) => !existsSync(file));
  if (missing.length > 0) {
    return `${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing.`;
  }
  const { certificatePem, keyPem } = read(files);
  const certificate = parsed(() => new X509Certificate(certificatePem));
  if (certificate === null) return `${files.certificate} is damaged: it is no PEM certificate.`;
  const key = parsed((): KeyObject => createPrivateKey(keyPem));
  if (key === null) {
    return `${files.key} is damaged: it is no PEM private key without a passphrase.`;
  }
  if (certificate.checkPrivateKey(key)) return null;
  return `${files.key} is not the key of ${files.certificate}.`;
}

/** Returns null when OpenSSL cannot read it. */
function parsed<T>(parse: () => T): T | null {
  try {
    return parse();
  } catch {
    return null;
  }
}

function lostIdentity(problem: string, known: string | null) {
  const whom =
    known === null ? '' : ` Agents and users know this head by the fingerprint ${known}.`;
  return unusableState(
    `${problem}${whom}`,
    'Restore the files from a copy. Or start once with --new-identity: every node has to join again then.',
  );
}
