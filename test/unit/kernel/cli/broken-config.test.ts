// Commands beside a configuration file with mistakes.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { capture, FakeHead, refusal } from './fake-head.ts';

async function broken(): Promise<FakeHead> {
  const head = await FakeHead.start({
    'POST /v1/jobs': () => ({
      json: { jobId: 42, taskCount: 1, directory: '/work', again: false },
    }),
    'POST /v1/config/reload': () => ({
      status: 422,
      json: refusal('config.not_taken', 'state', 'the head said all of it'),
    }),
  });
  writeFileSync(path.join(head.directory, 'weft.yaml'), 'defaults:\n  cpus: 2x\nfoo: 1\n');
  return head;
}

test('what only asks the head goes on, and says where the mistake is', async () => {
  await using head = await broken();
  const { code, out, error } = await head.weft('run', 'true');
  assert.deepEqual([code, out], [0, '42\n']);
  assert.match(
    error,
    /^weft: \S+weft\.yaml:2:9: defaults\.cpus: '2x' is not a whole number \(this command uses the defaults\)\n/,
  );
  assert.equal(error.trim().split('\n').length, 1);
});

test('a reload tells what the head has found, and only that', async () => {
  await using head = await broken();
  const { error } = await head.weft('config', 'reload');
  assert.equal(error, 'weft: the head said all of it\n');
});

test('weft down stops a cluster whose configuration is wrong', async () => {
  await using head = await broken();
  const { code, out } = await head.weft('down');
  assert.deepEqual([code, out], [0, 'The cluster was not running.\n']);
});

test('what needs the configuration ends with every mistake, its place and what to do', async () => {
  await using head = await broken();
  const file = path.join(head.directory, 'weft.yaml');
  const mistakes = [
    `weft: ${file}:2:9: defaults.cpus: '2x' is not a whole number`,
    `${file}:3:1: unknown key 'foo'.`,
    `  docs/config.md lists all keys; \`weft config check ${file}\` looks again.`,
  ];
  for (const words of [['up'], ['head'], ['config', 'show'], ['run', '--config', file, 'true']]) {
    const { code, out, error } = await head.weft(...words);
    assert.deepEqual([code, out], [2, ''], words[0]);
    assert.deepEqual(error.trim().split('\n'), mistakes, words[0]);
  }
  const named = { program: 'weft', environment: { WEFT_CONFIG: file } };
  for (const argv of [['run', 'true'], ['down'], ['node', 'list']]) {
    const { code, error } = await capture(head.directory, { ...named, argv }, runWeft);
    assert.equal(code, 2, argv[0]);
    assert.deepEqual(error.trim().split('\n'), mistakes, argv[0]);
  }
});
