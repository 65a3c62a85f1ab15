// The head's certificate, as others read it.

import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { fingerprintOf, makeCertificate } from '../../../../../src/kernel/head/auth/certificate.ts';
import { systemChance } from '../../../../../src/kernel/os/chance.ts';

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
