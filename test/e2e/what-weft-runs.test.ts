// What Weft runs for others, on a machine whose Node is older than Weft's: jobs, builds, processes
// that a function on a worker starts, and commands of the site. They find that Node, and nothing of
// what Weft has for itself.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect } from '../../src/library.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

const ASKS = 'command -v node; node --version; env';
/** What only Weft's own programs are to have. */
const OWN = /^(NODE_COMPILE_CACHE|MALLOC_ARENA_MAX|WEFT_FOR_ITSELF)=/m;

describe('what Weft runs for others', { timeout: 900_000 }, () => {
  const cluster = new LocalCluster();
  const at = (name: string): string => path.join(cluster.directory, name);
  const node = at('bin/node');
  const program = (name: string, text: string): void => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), `#!/bin/sh\n${text}\n`);
    chmodSync(at(name), 0o755);
  };
  /** Whatever it is, it has said what the user of this machine would have heard. */
  const assertTheirs = (said: string): void => {
    assert.ok(said.startsWith(`${node}\nv20.0.0\n`), said);
    assert.match(said, /^PATH=/m, 'it has told its variables');
    assert.doesNotMatch(said, OWN);
  };

  before(async () => {
    program('bin/node', 'echo v20.0.0');
    program('tell', `{ ${ASKS}; } > ${at('told.new')} && mv ${at('told.new')} ${at('told')}`);
    program('check', `{ ${ASKS}; } > ${at('checked')}`);
    const folders = `${at('bin')}:/usr/bin:/bin`;
    const lines = [
      `node: {path: '${folders}'}`,
      `notify: {commands: {tell: ${at('tell')}}}`,
      `health: {command: [${at('check')}]}`,
    ];
    writeFileSync(at('weft.yaml'), `${lines.join('\n')}\n`);
    Object.assign(cluster.env, { WEFT_CONFIG: at('weft.yaml'), PATH: folders });
    // They would be the user's own, and handed on.
    for (const name of ['NODE_COMPILE_CACHE', 'MALLOC_ARENA_MAX']) delete cluster.env[name];
    await cluster.up('--nodes', '1', '--listen', 'none');
  });
  after(() => cluster.close());

  test('a job finds the Node of its user; one that brings no PATH, that of its node', async () => {
    assertTheirs(await cluster.ok('run', '--follow', ASKS));
    assertTheirs(await cluster.ok('run', '--clean-env', '--follow', ASKS));
  });

  test('so does the build of a batch', async () => {
    mkdirSync(path.join(cluster.work, 'old'));
    const file = (name: string): string => path.join(cluster.work, 'old', name);
    writeFileSync(file('build.sh'), `#!/bin/sh\n${ASKS}\n`, { mode: 0o755 });
    const lines = [
      'namespace: lab',
      'name: old',
      'solver: {build: build.sh}',
      'jobs: [{name: job, run: build.sh}]',
    ];
    writeFileSync(file('weft.batch.yaml'), `${lines.join('\n')}\n`);
    await cluster.ok('batch', 'submit', file('weft.batch.yaml'));
    await cluster.ok('batch', 'wait', 'lab/old');
    const log = path.join(cluster.state, 'head/archive/batches/lab/old/_build/n1.log');
    assertTheirs(readFileSync(log, 'utf8'));
  });

  test('so does what a function on a worker starts', async () => {
    await using all = await connect({ environment: cluster.env });
    await using pool = await all.pool({ workers: 1, memory: '128M' });
    const said = await pool.run((line: string) => {
      return execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8' });
    }, ASKS);
    assertTheirs(said);
  });

  test('so do notifications and checks of a node', async () => {
    await cluster.ok('run', '--wait', '--notify', 'command:tell', 'true');
    await until('it was told', () => existsSync(at('told')) || undefined);
    assertTheirs(readFileSync(at('told'), 'utf8'));
    assertTheirs(readFileSync(at('checked'), 'utf8'));
  });
});
