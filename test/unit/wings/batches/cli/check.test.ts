// `weft batch template` and `check`: what they print, with and without a cluster.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { runWeft } from '../../../../../src/kernel/cli/main.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { capture, FakeHead, type Said } from '../../../kernel/cli/fake-head.ts';
import { nodeView } from '../../../kernel/cli/views.ts';

const BATCH = `namespace: lab
name: heat
needs: [gpu]
solver: {build: build.py}
files: [rod.json, grids]
defaults: {memory: 1G}
sweep: {alpha: [0.1, 0.5], cells: [64, 256]}
jobs: [{run: job.py}]
`;
const FILES = {
  'weft.batch.yaml': BATCH,
  'rod.json': '{"seconds": 1}',
  'grids/coarse.dat': 'x'.repeat(2048),
  'build.py': '',
  'job.py': '',
};

function weft(cwd: string, ...argv: string[]): Promise<Said> {
  return capture(cwd, { program: 'weft', argv: ['batch', ...argv], cwd }, runWeft);
}

function folder(context: TestContext, files: Readonly<Record<string, string>> = FILES): string {
  return makeFolder(context, files);
}

test('a batch is checked without a cluster', async (context) => {
  const { code, out, error } = await weft(folder(context), 'check');
  assert.equal(error, '');
  assert.equal(code, 0);
  assert.deepEqual(out.split('\n'), [
    'lab/heat: 4 jobs (alpha0.1-cells64, alpha0.1-cells256 … alpha0.5-cells256), built by build.py once per node',
    '4 files with 2.0K in all, the largest grids with 2K',
    'No cluster answers, so its nodes were not looked at',
    '',
  ]);
});

test('of files that are not there it is said that they are to be made', async (context) => {
  const { code, error } = await weft(folder(context, { 'weft.batch.yaml': BATCH }), 'check');
  assert.equal(code, 2);
  assert.match(error, /'build\.py' does not exist(?:.|\n)*\n {2}Make these files, or name yours/);
});

const NODES: readonly (readonly [labels: readonly string[], memoryBytes: number, said: RegExp])[] =
  [
    [['gpu'], 2 ** 30, /^1 of 2 nodes could run it$/m],
    [['old'], 2 ** 30, /^0 of 2 nodes could run it; none has gpu$/m],
    [
      ['gpu'],
      2 ** 20,
      /^0 of 2 nodes could run it; alpha0.1-cells64 \(and 3 other jobs\) needs more than any/m,
    ],
  ];

for (const [labels, memoryBytes, said] of NODES) {
  test(`nodes with ${labels.join()} and ${memoryBytes} bytes: ${said.source}`, async (context) => {
    const total = { cpuCount: 2, memoryBytes, gpuCount: 0, counted: {} };
    const nodes = [nodeView({ name: 'n1', labels: [...labels], total }), nodeView({ name: 'n2' })];
    await using head = await FakeHead.start({
      'GET /v1/nodes': () => ({ json: { nodes } }),
      'POST /v1/blobs/lacking': () => ({ json: { lacking: [] } }),
    });
    const file = path.join(folder(context), 'weft.batch.yaml');
    const { code, out } = await head.weft('batch', 'check', file);
    assert.match(out, said);
    assert.equal(code, 0);
  });
}

test('it says what would travel: what the head does not have, each content once', async (context) => {
  const file = path.join(folder(context), 'weft.batch.yaml');
  let isKnown = false;
  await using head = await FakeHead.start({
    'GET /v1/nodes': () => ({ json: { nodes: [nodeView({ labels: ['gpu'] })] } }),
    'POST /v1/blobs/lacking': ({ body }) => {
      const { hashes } = body as { hashes: string[] };
      // Two of the four files are empty.
      assert.equal(hashes.length, 3);
      const large = createHash('sha256').update('x'.repeat(2048)).digest('hex');
      return { json: { lacking: isKnown ? [] : [{ hash: large, offset: 1024 }] } };
    },
  });
  const { out } = await head.weft('batch', 'check', file);
  assert.match(out, /^1K would travel: the head lacks 1 file of 3 different ones$/m);
  const json = JSON.parse((await head.weft('batch', 'check', file, '-o', 'json')).out);
  assert.deepEqual(json.travel, { files: 3, bytes: 2062, lacking: { files: 1, bytes: 1024 } });
  isKnown = true;
  const known = await head.weft('batch', 'check', file);
  assert.match(known.out, /^All of them are on the head: nothing would travel$/m);
});

test("the seed's nodes may be looked at instead", async (context) => {
  const cwd = folder(context);
  const nodes = 'nodes: [{ip: 192.0.2.1, name: lab1, capabilities: [gpu]}]\n';
  writeFileSync(path.join(cwd, 'nodes.yaml'), nodes);
  const { out } = await weft(cwd, 'check', '--nodes-file', 'nodes.yaml');
  assert.match(out, /^1 of 1 node could run it$/m);
});

test('mistakes end it with 2 and say where they are', async (context) => {
  const cwd = folder(context, { 'weft.batch.yaml': 'namespace: lab\nname: a/b\njobs: []\n' });
  const { code, error } = await weft(cwd, 'check');
  assert.equal(code, 2);
  assert.match(error, /weft\.batch\.yaml:2:7: name: 'a\/b' has a separator/);
  assert.match(error, /weft\.batch\.yaml:3:7: jobs: a batch needs at least one job/);
});

test('without a file here it says how to begin', async (context) => {
  const { code, error } = await weft(folder(context, {}), 'check');
  assert.equal(code, 2);
  assert.match(error, /there is no weft\.batch\.yaml and no distribute-jobs\.yaml here/);
});

for (const kind of ['build', 'apptainer', 'docker', 'podman']) {
  test(`the template of ${kind} is right once its files are there`, async (context) => {
    const cwd = folder(context, {
      'build.py': '',
      'job.py': '',
      'mesh.h5': '',
      'solver.sif': '',
      'solver.tar': '',
    });
    assert.equal((await weft(cwd, 'template', kind, '--file', 'weft.batch.yaml')).code, 0);
    const { error, out } = await weft(cwd, 'check');
    assert.equal(error, '');
    assert.match(out, /^alice_wing\/sweep_01: 3 jobs \(re100, re200, re400\)/);
  });
}

test('a template is never written over a file, unless it is said so', async (context) => {
  const cwd = folder(context, { 'mine.yaml': 'precious' });
  const refused = await weft(cwd, 'template', '--file', 'mine.yaml');
  assert.equal(refused.code, 2);
  assert.match(refused.error, /mine\.yaml is there already\n {2}--force/);
  assert.equal(readFileSync(path.join(cwd, 'mine.yaml'), 'utf8'), 'precious');
  assert.equal((await weft(cwd, 'template', '--file', 'mine.yaml', '--force')).code, 0);
  assert.match(readFileSync(path.join(cwd, 'mine.yaml'), 'utf8'), /^namespace:/m);
});

test('an unknown kind of template is refused', async (context) => {
  const cwd = folder(context, {});
  const { code, error } = await weft(cwd, 'template', 'conda', '--file', 'x.yaml');
  assert.equal(code, 2);
  assert.match(error, /'conda' is no kind of solver; write build, apptainer, docker, podman/);
  assert.ok(!existsSync(path.join(cwd, 'x.yaml')));
});

test('the schema that editors get is the one in the documents', async (context) => {
  const { out } = await weft(folder(context, {}), 'template', '--schema');
  const root = path.resolve(import.meta.dirname, '../../../../..');
  const file = path.join(root, 'docs', 'schema', 'weft.batch.schema.json');
  assert.equal(out, readFileSync(file, 'utf8'));
  assert.match(out, /"\$schema": "https:\/\/json-schema\.org\/draft\/2020-12\/schema"/);
});
