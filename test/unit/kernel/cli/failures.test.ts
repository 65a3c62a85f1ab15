// How commands fail before a head has said anything.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { createClient } from '../../../../src/kernel/api/client.ts';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { loadConfig } from '../../../../src/kernel/config/config.ts';
import { writeMark } from '../../../../src/kernel/connect/process-file.ts';
import { WINGS } from '../../../../src/wings.ts';
import { capture } from './fake-head.ts';

function folder(t: TestContext): string {
  const made = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  t.after(() => rmSync(made, { recursive: true }));
  return made;
}

test('a broken configuration file ends a command that needs it with the place of the mistake', async (t) => {
  const directory = folder(t);
  const file = path.join(directory, 'weft.yaml');
  writeFileSync(file, 'up:\n  nodes: many\n');
  const loading = loadConfig({
    wings: WINGS,
    flags: new Map(),
    environment: {},
    file: null,
    directory,
  });
  await assert.rejects(loading, { code: 'config.invalid', exitCode: 2 });
  const said = await capture(directory, { program: 'weft', argv: ['up'] }, runWeft);
  assert.equal(said.code, 2);
  assert.ok(said.error.includes(`${file}:2:10`), said.error);
});

test('a folder that is named before a command and another behind it are refused', async (t) => {
  const directory = folder(t);
  const told = (...argv: string[]) => capture(directory, { program: 'weft', argv }, runWeft);
  const both = await told('--dir', '/one', 'node', 'list', '--dir', '/two');
  assert.deepEqual([both.code, both.out], [2, '']);
  assert.match(both.error, /--dir is there twice, with '\/one' and with '\/two'/);
  const same = await told('--dir', '/one', 'info', '--dir', '/one');
  assert.equal(same.code, 7, same.error);
});

test('where no head is, the client and the command say so, and what to do', async (t) => {
  const directory = folder(t);
  const client = createClient({ address: { socketPath: path.join(directory, 'weft.sock') } });
  t.after(() => client.close());
  await assert.rejects(client.call('health'), { code: 'head.unreachable', exitCode: 7 });
  const said = await capture(directory, { program: 'weft', argv: ['info'] }, runWeft);
  assert.equal(said.code, 7);
  assert.match(said.error, /No head answers at .*\n.*weft up/);
});

test('where the head of a folder serves elsewhere, nobody is told to start one', async (t) => {
  const directory = folder(t);
  const said = () => capture(directory, { program: 'weft', argv: ['info'] }, runWeft);
  mkdirSync(path.join(directory, 'run'));
  writeMark(path.join(directory, 'run', 'head.pid'), process.pid);
  const { code, error } = await said();
  assert.equal(code, 7);
  assert.match(
    error,
    /No head answers at .*\n {2}The head of that folder runs\. .*serves \/run\/weft\/weft\.sock: leave --dir and/,
  );
  // That of `weft up` may be starting.
  writeFileSync(path.join(directory, 'cluster.json'), '{}');
  assert.match((await said()).error, /\n {2}Start a cluster here with `weft up`/);
});
