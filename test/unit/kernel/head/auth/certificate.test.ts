// The head's certificate, as others read it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { identityShown } from '../../../../../src/kernel/base/pinned-certificate.ts';
import {
  endOf,
  fingerprintOf,
  makeCertificate,
  renewCertificate,
} from '../../../../../src/kernel/head/auth/certificate.ts';
import { systemChance } from '../../../../../src/kernel/os/chance.ts';
import { certificateIn } from '../../../../../src/kernel/os/head-stream.ts';

const ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));

test('the certificate is self-signed, names its hosts, and lasts ten years', async () => {
  const names = ['head.lab', '10.0.0.1', '::1'];
  const now = Date.UTC(2030, 0, 1);
  const made = await makeCertificate({ clusterName: 'lab', names, now, chance: systemChance });
  const certificate = new X509Certificate(made.certificatePem);
  assert.ok(certificate.verify(certificate.publicKey));
  assert.ok(certificate.checkPrivateKey(createPrivateKey(made.keyPem)));
  assert.equal(certificate.checkHost('head.lab'), 'head.lab');
  assert.equal(certificate.checkIP('10.0.0.1'), '10.0.0.1');
  assert.equal(certificate.ca, false);
  assert.equal(new Date(certificate.validTo).getUTCFullYear(), 2039);
  assert.match(fingerprintOf(made.certificatePem), /^[0-9a-f]{64}$/);
});

const about = (now: number) => ({
  clusterName: 'lab',
  names: ['head.lab'],
  now,
  chance: systemChance,
});

/** By which fingerprint clients in TypeScript and in Python know who shows it. */
function knownAs(pem: string): string {
  const leaf = new X509Certificate(pem);
  const known = identityShown(leaf, certificateIn);
  const python = [
    'import sys; sys.path.insert(0, "python/src")',
    'from weft._http import _identity_shown',
    'print(_identity_shown(bytes.fromhex(sys.argv[1])))',
  ].join('\n');
  const said = execFileSync('python3', ['-c', python, leaf.raw.toString('hex')], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(said.trim(), known, 'in Python');
  return known;
}

test('[Y25] a renewed certificate is the same head, and the next one too', async () => {
  const made = await makeCertificate(about(Date.UTC(2020, 0, 1)));
  const first = fingerprintOf(made.certificatePem);
  assert.equal(knownAs(made.certificatePem), first);
  for (const year of [2029, 2038]) {
    const renewed = await renewCertificate(made, about(Date.UTC(year, 0, 1)));
    assert.equal(new Date(endOf(renewed)).getUTCFullYear(), year + 9);
    assert.notEqual(fingerprintOf(renewed), first);
    assert.equal(knownAs(renewed), first);
    assert.ok(new X509Certificate(renewed).checkPrivateKey(createPrivateKey(made.keyPem)));
    assert.equal(new X509Certificate(renewed).checkHost('head.lab'), 'head.lab');
  }
});

test('[Y25] who has another key is nobody else by carrying a certificate', async () => {
  const made = await makeCertificate(about(Date.UTC(2020, 0, 1)));
  const other = await makeCertificate(about(Date.UTC(2020, 0, 1)));
  // The certificate is public; its key is not.
  const stolen = { certificatePem: made.certificatePem, keyPem: other.keyPem };
  const shown = await renewCertificate(stolen, about(Date.UTC(2029, 0, 1)));
  assert.equal(knownAs(shown), fingerprintOf(shown));
});
