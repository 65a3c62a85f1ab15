// Programs in Python against a real head: one over a client that is generated from the description
// of the API, one written by hand.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setUpPython } from '../../tools/python-clients.ts';
import { cleanEnvironment, LocalCluster, repository, runProgram } from './support/local-cluster.ts';

const { bin, reason } = setUpPython();
// CI must not lose the test; without a network a developer is told why.
const skip = bin === null && process.env['CI'] !== 'true' && reason;
const EXAMPLES = path.join(repository, 'examples', 'python');

describe('clients in Python', { skip }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-python-'));
  let cluster: LocalCluster;
  let port = '';
  let token = '';

  before(async () => {
    assert.notEqual(bin, null, reason);
    cluster = new LocalCluster();
    const said = await cluster.up('--nodes', '2');
    port = /https:\/\/[^:]+:(\d+)/.exec(said)?.[1] ?? '';
    token = (await cluster.client.call<{ token: string }>('POST', '/v1/tokens', {})).token;
  });
  after(async () => {
    await cluster?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function python(script: string, environment: Record<string, string>): Promise<string[]> {
    const env = cleanEnvironment({ WEFT_TOKEN: token, PYTHONPATH: folder, ...environment });
    const program = [path.join(bin ?? '', 'python'), path.join(EXAMPLES, script)];
    const { code, out, error } = await runProgram(program, { env, cwd: folder });
    assert.equal(code, 0, `${out}${error}`);
    return out.trimEnd().split('\n');
  }

  test('a generated client submits, waits, reads and is told what is wrong', async () => {
    const description = path.join(folder, 'openapi.json');
    writeFileSync(description, JSON.stringify(await cluster.client.call('GET', '/openapi.json')));
    const made = await runProgram(
      [
        path.join(bin ?? '', 'openapi-python-client'),
        ...['generate', '--path', description, '--meta', 'none', '--overwrite'],
        ...['--output-path', path.join(folder, 'weft_client')],
      ],
      { env: cleanEnvironment({ PATH: `${bin}:${process.env['PATH']}` }), cwd: folder },
    );
    assert.equal(made.code, 0, `${made.out}${made.error}`);
    assert.doesNotMatch(
      `${made.out}${made.error}`,
      /warning|unable|omitting/i,
      'all of it is used',
    );
    const socket = path.join(cluster.state, 'weft.sock');
    assert.deepEqual(await python('generated.py', { WEFT_SOCKET: socket }), [
      "nodes ['n1', 'n2']",
      'again True True tasks 3',
      'outcome completed',
      'exits [0, 0, 0]',
      'log point 1 true',
      'bulk [True, False] argument.invalid',
      'refused partition.unknown invalid_argument',
    ]);
  });

  test('a client by hand follows events over TLS, resumes, waits for many and reads logs', async () => {
    const said = await python('by_hand.py', {
      WEFT_HEAD: `https://localhost:${port}`,
      WEFT_CA: path.join(cluster.state, 'head', 'tls', 'certificate.pem'),
    });
    assert.deepEqual(said, [
      "done ['completed', 'failed']",
      "exit {'code': 0}",
      "exit {'code': 3}",
      'log hello 1',
      'refused job.not_found not_found',
    ]);
  });
});
