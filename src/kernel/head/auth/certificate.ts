// The head's own certificate: self-signed, known to agents and users by its fingerprint.

import { X509Certificate as NodeCertificate, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { believed } from '../../base/believed.ts';
import type { Chance } from '../../ports/chance.ts';

const YEARS_10_MS = 10 * 365 * 86_400_000;
/** Clocks of other machines may be behind. */
const DAY_MS = 86_400_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface HeadCertificate {
  readonly certificatePem: string;
  /** PKCS #8. To be kept 0600. */
  readonly keyPem: string;
}

export interface CertificateOptions {
  readonly clusterName: string;
  /** Host names and IP addresses under which the head can be reached. */
  readonly names: readonly string[];
  readonly now: number;
  readonly chance: Chance;
}

/** EC P-256, ten years: who pins the fingerprint gains nothing from an earlier end. */
export async function makeCertificate(options: CertificateOptions): Promise<HeadCertificate> {
  // Loaded at a head's first start only; the decorators of x509 need reflect-metadata before it.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const names = options.names.map((value) => ({
    type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
    value,
  }));
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
  const key = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey));
  return { certificatePem: `${certificate.toString('pem')}\n`, keyPem: pem('PRIVATE KEY', key) };
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
