// The head's key and certificate: made once, whenever the head is killed meanwhile, and never
// replaced unasked.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { certificateOf } from '../../../src/bin/head-certificate.ts';
import type { HeadOptions } from '../../../src/bin/head-options.ts';
import { identityShown } from '../../../src/kernel/base/pinned-certificate.ts';
import {
  endOf,
  fingerprintOf,
  type HeadCertificate,
  makeCertificate,
} from '../../../src/kernel/head/auth/certificate.ts';
import { Failure } from '../../../src/kernel/model/failure.ts';
import { systemChance } from '../../../src/kernel/os/chance.ts';
import { certificateIn } from '../../../src/kernel/os/head-stream.ts';

class Identity {
  readonly directory = mkdtempSync(join(tmpdir(), 'weft-identity-'));
  readonly key = join(this.directory, 'tls', 'key.pem');
  readonly certificate = join(this.directory, 'tls', 'certificate.pem');
  readonly warned: string[] = [];

  constructor(t: TestContext) {
    t.after(() => rmSync(this.directory, { recursive: true }));
  }

  /** What a head that starts now has. */
  held(known: string | null = null, newIdentity = false): Promise<HeadCertificate> {
    const names = { publicNames: [], clusterName: 'test', newIdentity };
    const options = { directory: this.directory, ...names } as unknown as HeadOptions;
    return certificateOf(options, known, (_, words) => this.warned.push(words));
  }

  async fingerprint(known: string | null = null, newIdentity = false): Promise<string> {
    return fingerprintOf((await this.held(known, newIdentity)).certificatePem);
  }

  async refused(known: string | null, words: RegExp): Promise<void> {
    const failure = await this.fingerprint(known).catch((error: unknown) => error);
    assert.ok(failure instanceof Failure, String(failure));
    assert.equal(failure.exitCode, 65);
    assert.match(failure.message, words);
    assert.match(failure.hint ?? '', /--new-identity/);
  }
}

/** The head is gone at its `at`th change of a file. False: it made fewer. */
async function killedAt(at: number, start: () => Promise<unknown>): Promise<boolean> {
  const real = { writeFileSync: fs.writeFileSync, renameSync: fs.renameSync };
  let count = 0;
  const dying =
    <Args extends unknown[]>(change: (...args: Args) => void) =>
    (...args: Args): void => {
      count += 1;
      if (count < at) return change(...args);
      // What is being written is there in part.
      if (typeof args[1] === 'string' && args[1].includes('\n')) {
        real.writeFileSync(args[0] as string, args[1].slice(0, 100));
      }
      throw new Error('killed');
    };
  Object.assign(fs, {
    writeFileSync: dying(real.writeFileSync as (...args: unknown[]) => void),
    renameSync: dying(real.renameSync as (...args: unknown[]) => void),
  });
  syncBuiltinESMExports();
  try {
    await start();
    return false;
  } catch (error) {
    assert.match(String(error), /killed/);
    return true;
  } finally {
    Object.assign(fs, real);
    syncBuiltinESMExports();
  }
}

test('a head that is killed while it makes its identity has one at the next start', async (t) => {
  let at = 1;
  for (; ; at += 1) {
    const identity = new Identity(t);
    if (!(await killedAt(at, () => identity.fingerprint()))) break;
    const made = await identity.fingerprint();
    assert.equal(await identity.fingerprint(made), made, `killed at ${at}`);
    assert.ok(!existsSync(`${identity.key}.new`) && !existsSync(`${identity.certificate}.new`));
  }
  assert.ok(at > 3, 'there were changes to be killed at');
});

test('a damaged or foreign key or certificate is named, and replaced only when asked', async (t) => {
  const identity = new Identity(t);
  const known = await identity.fingerprint();
  const [key, certificate] = [identity.key, identity.certificate].map((file) =>
    readFileSync(file, 'utf8'),
  ) as [string, string];
  const told = new RegExp(`damaged.*by the fingerprint ${known}`);
  for (const damaged of ['', 'no PEM', certificate.slice(0, 200)]) {
    writeFileSync(identity.certificate, damaged);
    await identity.refused(known, told);
  }
  await identity.refused(null, /certificate\.pem is damaged: it is no PEM certificate\.$/);
  writeFileSync(identity.certificate, certificate);
  for (const damaged of ['', key.replace('A', '!'), key.slice(0, 60)]) {
    writeFileSync(identity.key, damaged);
    await identity.refused(known, told);
  }
  const other = new Identity(t);
  await other.fingerprint();
  writeFileSync(identity.key, readFileSync(other.key));
  await identity.refused(known, /key\.pem is not the key of .*certificate\.pem\./);
  assert.equal(readFileSync(identity.certificate, 'utf8'), certificate, 'nothing was changed');
  writeFileSync(identity.key, key);
  assert.equal(await identity.fingerprint(known), known);
  writeFileSync(identity.key, '');
  const renewed = await identity.fingerprint(known, true);
  assert.notEqual(renewed, known);
  assert.equal(await identity.fingerprint(known), renewed);
});

test('a certificate that was made and not yet in its place does not replace a good one', async (t) => {
  const identity = new Identity(t);
  const known = await identity.fingerprint();
  writeFileSync(`${identity.certificate}.new`, readFileSync(identity.certificate, 'utf8').trim());
  assert.equal(await identity.fingerprint(known), known);
  assert.ok(existsSync(`${identity.certificate}.new`));
});

test('[Y25] a certificate that nears its end is renewed, once, and known as before', async (t) => {
  const identity = new Identity(t);
  const first = await identity.fingerprint();
  const key = readFileSync(identity.key, 'utf8');
  // Made nine years ago, for the same key.
  const old = { certificatePem: readFileSync(identity.certificate, 'utf8'), keyPem: key };
  const now = Date.now() - 9 * 365 * 86_400_000;
  const about = { clusterName: 'test', names: ['head'], now, chance: systemChance };
  const { certificatePem, keyPem } = await makeCertificate(about);
  writeFileSync(identity.certificate, certificatePem);
  writeFileSync(identity.key, keyPem);
  const shown = await identity.held();
  assert.notEqual(fingerprintOf(certificatePem), first);
  assert.equal(shown.certificatePem, certificatePem);
  assert.ok(
    shown.renewedPem !== undefined &&
      endOf(shown.renewedPem) > endOf(old.certificatePem) - 86_400_000,
  );
  assert.equal((await identity.held()).renewedPem, shown.renewedPem);
  // One that a killed head has left half written, or of another key, is made anew.
  writeFileSync(join(identity.directory, 'tls', 'renewed.pem'), shown.renewedPem.slice(0, 200));
  const again = await identity.held();
  assert.equal(
    identityShown(new X509Certificate(again.renewedPem ?? ''), certificateIn),
    fingerprintOf(certificatePem),
  );
});

/** A certificate of ten years that is in its ninth, in place. */
async function agedIn(identity: Identity): Promise<string> {
  await identity.fingerprint();
  const now = Date.now() - 9 * 365 * 86_400_000;
  const about = { clusterName: 'test', names: ['lab.example'], now, chance: systemChance };
  const { certificatePem, keyPem } = await makeCertificate(about);
  writeFileSync(identity.certificate, certificatePem);
  writeFileSync(identity.key, keyPem);
  return certificatePem;
}

test('[Y25] a renewed certificate is for all names of the first', async (t) => {
  const identity = new Identity(t);
  await agedIn(identity);
  const { renewedPem = '' } = await identity.held();
  const names = new X509Certificate(renewedPem).subjectAltName ?? '';
  assert.match(names, /DNS:lab\.example.*DNS:localhost.*IP Address:127\.0\.0\.1/);
});

test('[Y25] a head whose certificate cannot be renewed shows the one that it has, and says so', async (t) => {
  const identity = new Identity(t);
  const certificatePem = await agedIn(identity);
  mkdirSync(join(identity.directory, 'tls', 'renewed.pem.new'));
  const held = await identity.held();
  assert.deepEqual([held.certificatePem, held.renewedPem], [certificatePem, undefined]);
  assert.match(identity.warned.join(), /could not be renewed/);
});

test("[Y25] an admin's own certificate is the admin's to renew, whatever its curve", async (t) => {
  for (const curve of ['P-256', 'P-384']) {
    const identity = new Identity(t);
    await identity.fingerprint();
    const out = ['-keyout', identity.key, '-out', identity.certificate];
    const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`];
    const what = ['-nodes', '-subj', '/CN=test', '-days', '365', ...out];
    execFileSync('openssl', [...made, ...what], { stdio: 'ignore' });
    assert.equal((await identity.held()).renewedPem, undefined, curve);
    assert.deepEqual(identity.warned, []);
  }
});
