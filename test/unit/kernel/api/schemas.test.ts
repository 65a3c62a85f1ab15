// The schemas by themselves: what they let in, what they say otherwise, and the document of them.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { openApiDocument } from '../../../../src/kernel/api/openapi.ts';
import { fillPath, PATHS } from '../../../../src/kernel/api/paths.ts';
import { submission } from '../../../../src/kernel/api/submission.ts';
import { describeIssues } from '../../../../src/kernel/head/http/validate.ts';
import { APIS, ROUTE_LIST } from '../../../support/wings.ts';

const argv = { kind: 'argv', argv: ['true'] };

test('a full submission passes unchanged', () => {
  const full = {
    program: { kind: 'script', text: '#!/bin/sh\n', args: ['a b', ''] },
    name: 'x',
    environment: { A: '1', EMPTY: '' },
    directory: { kind: 'auto', path: '/srv' },
    files: { stdout: '%j.out' },
    nodeCount: 2,
    processesPerNode: 3,
    cpuCount: 1,
    memoryBytes: 2 ** 30,
    gpuCount: 0,
    counted: { licence: 1 },
    exclusive: true,
    labels: ['gpu', 'rack=7'],
    nodeNames: ['n1', 'n2.lab'],
    walltimeMs: null,
    array: { indices: '0-99,200-300:10', runningMax: 5 },
    dependencies: [{ jobId: 1, condition: 'ok' }],
    beginAt: 1,
    nice: -5,
    held: false,
    onNodeLoss: { kind: 'lease', leaseMs: 60_000 },
    requeue: true,
    retriesMax: 1,
    partition: 'default',
    umask: 0o077,
  };
  assert.deepEqual(submission.parse(full), full);
});

const WRONG: [string, unknown, RegExp][] = [
  ['no program', {}, /^program: expected object/],
  ['an unknown kind', { program: { kind: 'exe' } }, /^program\.kind: expected 'argv' \| 'shell'/],
  [
    'a number as word',
    { program: { kind: 'argv', argv: ['x', 5] } },
    /^program\.argv\[1\]: expected string/,
  ],
  ['an unknown field', { program: argv, time: 1 }, /^body: unknown field time$/],
  ['too large a nice', { program: argv, nice: 101 }, /^nice: .*100/],
  [
    'a relative directory',
    { program: argv, directory: { kind: 'shared', path: 'x' } },
    /^directory\.path: an absolute path/,
  ],
  [
    'NUL in a path',
    { program: argv, files: { stdout: 'a\0b' } },
    /^files\.stdout: a path without NUL/,
  ],
  [
    '[J33] a comment of too many bytes',
    { program: argv, comment: 'ä'.repeat(513) },
    /^comment: a text of at most 1024 bytes/,
  ],
  ['a bad node name', { program: argv, nodeNames: ['../x'] }, /^nodeNames\[0\]: a node name/],
  ['no object', 5, /^body: expected object/],
];

for (const [what, value, expected] of WRONG) {
  test(`${what} is refused with its place and what was expected`, () => {
    const { error } = submission.safeParse(value);
    assert.match(describeIssues(error?.issues ?? [], 'body'), expected);
  });
}

test('the document describes every route, with its parameters', () => {
  const document = openApiDocument('1.2.3', APIS) as {
    paths: Record<string, Record<string, { operationId: string; parameters: { name: string }[] }>>;
  };
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  assert.deepEqual(
    operations.map(({ operationId }) => operationId).sort(),
    Object.keys(PATHS).sort(),
  );
  const logs = document.paths['/v1/jobs/{id}/logs']?.['get'];
  assert.deepEqual(
    logs?.parameters.map(({ name }) => name),
    ['id', 'index', 'epoch', 'stream', 'nodeRank', 'rank', 'offset', 'limit', 'follow'],
  );
});

const EXAMPLES: Readonly<Record<string, string>> = {
  id: '42',
  index: '7',
  hash: 'a'.repeat(64),
  file: 'page-a1B2c3D4.js',
  code: 'BCDF-GHJK',
};

test('every parameter of a path has a schema that knows it', () => {
  for (const { path, params, name } of ROUTE_LIST) {
    const names = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
    if (names.length === 0) assert.equal(params, undefined, name);
    const values = Object.fromEntries(names.map((one) => [one, EXAMPLES[one] ?? 'n1']));
    if (params !== undefined) assert.deepEqual(params.parse(values), values);
  }
  assert.equal(fillPath('/v1/jobs/:id', { id: '42[7]' }), '/v1/jobs/42%5B7%5D');
});

test('every route is in docs/api.md', async () => {
  const text = await readFile(new URL('../../../../docs/api.md', import.meta.url), 'utf8');
  const missing = Object.values(PATHS).filter((path) => !text.includes(`\`${path}\``));
  assert.deepEqual(missing, []);
});
