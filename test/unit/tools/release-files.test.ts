// What lies beside the packages of a release: the bill of materials, checksums and their signature.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { IN_PAGE, type Locked, sbomText, shippedOf } from '../../../tools/package/sbom.ts';
import { signSums, writeSums } from '../../../tools/package/sums.ts';
import { ROOT } from '../../../tools/tree.ts';

interface Bill {
  readonly bomFormat: string;
  readonly serialNumber: string;
  readonly metadata: { readonly timestamp: string; readonly component: { readonly name: string } };
  readonly components: readonly {
    readonly name: string;
    readonly purl: string;
    readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
    readonly licenses: readonly object[];
  }[];
}

const lock = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};

function bill(): string {
  const packages = shippedOf(lock.packages, (place) => lock.packages[place]?.dev !== true);
  return sbomText({
    version: '1.2.3',
    license: 'MIT',
    packages,
    nodeVersion: '24.1.0',
    date: 1_700_000_000,
  });
}

test('[Y22] the bill names what is shipped with licence and digest, and is the same each time', () => {
  const read = JSON.parse(bill()) as Bill;
  assert.equal(bill(), bill());
  assert.equal(read.bomFormat, 'CycloneDX');
  assert.equal(read.metadata.timestamp, '2023-11-14T22:13:20.000Z');
  assert.match(
    read.serialNumber,
    /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
  );
  const names = read.components.map(({ name }) => name);
  for (const name of ['@peculiar/x509', 'node', 'preact', 'ws', 'zod'])
    assert.ok(names.includes(name), name);
  for (const name of ['typescript', '@biomejs/biome', 'playwright-core'])
    assert.ok(!names.includes(name));
  for (const { name, licenses, hashes = [], purl } of read.components) {
    assert.equal(licenses.length, 1, name);
    assert.ok(!JSON.stringify(licenses).includes('NOASSERTION'), name);
    if (name !== 'node') assert.match(hashes[0]?.content ?? '', /^[0-9a-f]{128}$/, name);
    assert.match(purl, /^pkg:(npm|generic)\/[^@]+@\d/);
  }
  assert.ok(read.components.some(({ purl }) => purl.startsWith('pkg:npm/%40peculiar/x509@')));
});

/** Names of packages that sources of the page import. */
function importedByPage(): Set<string> {
  const pages = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => /(^|\/)(page|pages)[./]/.test(file) && /\.tsx?$/.test(file),
  );
  const names = new Set<string>();
  for (const file of pages) {
    const text = readFileSync(path.join(ROOT, 'src', file), 'utf8');
    for (const [, name = ''] of text.matchAll(
      /^(?:import|export)(?! type)[^;]*? from '([^.'][^']*)'/gm,
    )) {
      if (name.startsWith('node:')) continue;
      names.add(
        name
          .split('/')
          .slice(0, name.startsWith('@') ? 2 : 1)
          .join('/'),
      );
    }
  }
  return names;
}

test('[Y22] the bill has what the page is made of', () => {
  const imported = importedByPage();
  assert.ok(imported.has('preact'));
  for (const name of imported) {
    const isLocked = lock.packages[`node_modules/${name}`]?.dev !== true;
    assert.ok(isLocked || IN_PAGE.some((one) => one === name), name);
  }
});

test('[Y22] checksums are those of sha256sum, and a signature is for releases only', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-sums-'));
  const run = (program: string, args: readonly string[], input = '') =>
    spawnSync(program, args, { cwd: folder, encoding: 'utf8', input });
  try {
    const files = ['b.deb', 'a.tar.gz'].map((name) => path.join(folder, name));
    for (const file of files) writeFileSync(file, file);
    const sums = writeSums(files, folder);
    const text = readFileSync(sums, 'utf8');
    assert.match(text, /^[0-9a-f]{64} {2}a\.tar\.gz\n[0-9a-f]{64} {2}b\.deb\n$/);
    assert.equal(run('sha256sum', ['--check', '--strict', 'SHA256SUMS']).status, 0);
    assert.equal(
      run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', 'key']).status,
      0,
    );
    const signature = signSums(sums, path.join(folder, 'key'));
    const first = readFileSync(signature);
    assert.deepEqual(readFileSync(signSums(sums, path.join(folder, 'key'))), first);
    const key = readFileSync(path.join(folder, 'key.pub'), 'utf8');
    writeFileSync(path.join(folder, 'signers'), `weft namespaces="weft-release" ${key}`);
    const verify = [
      '-Y',
      'verify',
      '-f',
      'signers',
      '-I',
      'weft',
      '-n',
      'weft-release',
      '-s',
      'SHA256SUMS.sig',
    ];
    assert.equal(run('ssh-keygen', verify, text).status, 0);
    assert.notEqual(run('ssh-keygen', verify, text.replace('a', 'b')).status, 0);
    assert.throws(() => signSums(sums, path.join(folder, 'no-key')), /ssh-keygen/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
