// The head's own certificate: self-signed, known to agents and users by its fingerprint.

import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  X509Certificate as NodeCertificate,
  webcrypto,
} from 'node:crypto';
import { isIP } from 'node:net';
import { believed } from '../../base/believed.ts';
import { FIRST_PREFIX } from '../../base/pinned-certificate.ts';
import type { Chance } from '../../ports/chance.ts';

const YEAR_MS = 365 * 86_400_000;
const YEARS_10_MS = 10 * YEAR_MS;
/** A head that is started once in so long never shows one that has ended. */
export const RENEWED_BEFORE_MS = 2 * YEAR_MS;
/** Clocks of other machines may be behind. */
const DAY_MS = 86_400_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface HeadCertificate {
  readonly certificatePem: string;
  /** PKCS #8. To be kept 0600. */
  readonly keyPem: string;
  /** What is shown in its place, of the same key, since it nears its end; absent: itself. */
  readonly renewedPem?: string;
}

export interface CertificateOptions {
  readonly clusterName: string;
  /** Host names and IP addresses under which the head can be reached. */
  readonly names: readonly string[];
  readonly now: number;
  readonly chance: Chance;
}

type Keys = webcrypto.CryptoKeyPair;

/** EC P-256, ten years: who pins the fingerprint gains nothing from an earlier end. */
export async function makeCertificate(options: CertificateOptions): Promise<HeadCertificate> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificatePem = await signed(options, keys, null);
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return { certificatePem, keyPem: pem('PRIVATE KEY', key) };
}

/** Another ten years for the same key, by the same names; the first certificate comes with it. */
export async function renewCertificate(
  { certificatePem, keyPem }: HeadCertificate,
  options: CertificateOptions,
): Promise<string> {
  const key = createPrivateKey(keyPem);
  const load = (what: KeyObject, format: 'pkcs8' | 'spki', use: 'sign' | 'verify') =>
    webcrypto.subtle.importKey(
      format,
      what.export({ format: 'der', type: format }),
      ALGORITHM,
      true,
      [use],
    );
  const privateKey = await load(key, 'pkcs8', 'sign');
  const publicKey = await load(createPublicKey(key), 'spki', 'verify');
  return await signed(options, { privateKey, publicKey }, new NodeCertificate(certificatePem));
}

/**
 * Whether `makeCertificate` made it: it lasts as no other does, to the second. An admin's own is
 * the admin's to renew.
 */
export function isMadeHere({ certificatePem, keyPem }: HeadCertificate): boolean {
  const { issuer, subject, validFrom, validTo } = new NodeCertificate(certificatePem);
  const isOurSpan = Date.parse(validTo) - Date.parse(validFrom) === YEARS_10_MS + DAY_MS;
  const { namedCurve } = createPrivateKey(keyPem).asymmetricKeyDetails ?? {};
  return isOurSpan && issuer === subject && namedCurve === 'prime256v1';
}

/** Names and addresses that it is for. */
export function namesIn(certificatePem: string): string[] {
  const { subjectAltName = '' } = new NodeCertificate(certificatePem);
  return [...subjectAltName.matchAll(/(?:^|, )(?:DNS|IP Address):([^,"]+)/g)].map(
    ([, name = '']) => name,
  );
}

/** Until when it may be shown, ms since 1970. */
export function endOf(certificatePem: string): number {
  return Date.parse(new NodeCertificate(certificatePem).validTo);
}

async function signed(
  options: CertificateOptions,
  keys: Keys,
  first: NodeCertificate | null,
): Promise<string> {
  // Loaded where one is made only; the decorators of x509 need reflect-metadata before it.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const names: { type: 'dns' | 'ip' | 'url'; value: string }[] = options.names.map((value) => ({
    type: isIP(value) === 0 ? 'dns' : 'ip',
    value,
  }));
  if (first !== null)
    names.push({ type: 'url', value: FIRST_PREFIX + first.raw.toString('base64url') });
  const certificate = await x509.X509CertificateGenerator.createSelfSigned(
    {
      name: [{ CN: [options.clusterName] }],
      serialNumber: Buffer.from(options.chance.bytes(16)).toString('hex'),
      notBefore: new Date(options.now - DAY_MS),
      notAfter: new Date(options.now + YEARS_10_MS),
      signingAlgorithm: ALGORITHM,
      keys,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(names),
      ],
    },
    // The library declares the browser's type of it.
    believed(webcrypto),
  );
  return `${certificate.toString('pem')}\n`;
}

/** SHA-256 of the certificate's DER, hex without colons. */
export function fingerprintOf(certificatePem: string): string {
  const { fingerprint256 } = new NodeCertificate(certificatePem);
  return fingerprint256.replaceAll(':', '').toLowerCase();
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}
