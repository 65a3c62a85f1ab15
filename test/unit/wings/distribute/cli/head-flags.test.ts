// `--ip` and `-p`: which head they name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeFolder } from '../../../../support/folder.ts';
import { FakeHead } from '../../../kernel/cli/fake-head.ts';
import { distributeIn, typed } from './typed.ts';

const ANSWERS = { 'GET /v1/nodes': () => ({ json: { nodes: [] } }) };

test('--ip of this machine is the cluster here, whatever its port', async (context) => {
  await using head = await FakeHead.start(ANSWERS);
  const cwd = makeFolder(context, {});
  for (const ip of ['127.0.0.1', 'localhost', '::1']) {
    const { code, error } = await typed(head, cwd, 'node-status', '--ip', ip, '-p', '8952');
    assert.deepEqual([code, error], [0, ''], ip);
  }
  assert.equal(head.work.length, 3);
});

test('--ip of another machine is a head on the port of -p, of WEFT_HEAD there, or 8952', async (context) => {
  const cwd = makeFolder(context, {});
  const asked = async (environment: Record<string, string>, ...argv: string[]) => {
    const { error } = await distributeIn({ cwd, environment }, 'node-status', ...argv);
    return /No head answers at (\S+): /.exec(error)?.[1];
  };
  const at = ['--ip', '192.0.2.1'];
  const told = { WEFT_TOKEN: 'x', WEFT_CLIENT_TIMEOUT: '1ms' };
  assert.equal(await asked(told, ...at), '192.0.2.1:8952');
  assert.equal(await asked(told, ...at, '-p', '9000'), '192.0.2.1:9000');
  const same = { ...told, WEFT_HEAD: 'https://192.0.2.1:5001' };
  assert.equal(await asked(same, ...at), '192.0.2.1:5001');
  const bare = { ...told, WEFT_HEAD: '192.0.2.1' };
  assert.equal(await asked(bare, ...at), '192.0.2.1:5001');
  const other = { ...told, WEFT_HEAD: 'https://192.0.2.2:5001' };
  assert.equal(await asked(other, ...at), '192.0.2.1:8952');
  assert.equal(await asked(told, '--ip', '2001:db8::1'), '[2001:db8::1]:8952');
});

test('a port that is none, an address that is none, and two heads are refused', async (context) => {
  const cwd = makeFolder(context, {});
  const refused = async (...argv: string[]) => {
    const { code, error } = await distributeIn({ cwd }, 'node-status', ...argv);
    assert.equal(code, 2, error);
    return error;
  };
  assert.match(await refused('-p', '70000'), /--port: '70000' is no port/);
  assert.match(await refused('--ip', 'a/b'), /--ip: 'a\/b' is no address/);
  const both = ['--ip', '192.0.2.1', '--head', 'https://192.0.2.1'];
  assert.match(await refused(...both), /--ip and --head both name the head/);
});
