// A cluster of ours as a site of another one, over TLS with a token: its jobs run there, once, and
// their ends have their evidence, also when the head of that cluster is killed.

import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { JobView } from '../../src/kernel/api/jobs.ts';
import { weft as adaptorOf } from '../../src/wings/sites/adaptors/weft/weft.ts';
import { findFreePort } from '../support/free-port.ts';
import { until } from './support/hosts.ts';
import { LocalCluster, repository, runProgram } from './support/local-cluster.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const FIRST_PORT = 24_000 + (process.pid % 500) * 8;

describe('another Weft as a site', () => {
  const world = new SiteWorld(() => undefined);
  const { weft, at } = { weft: world.weft.bind(world), at: world.at.bind(world) };
  let other: LocalCluster;
  let program: string[];
  const there = async (...args: string[]): Promise<JobView[]> =>
    JSON.parse(await other.ok('jobs', '--all', ...args, '-o', 'json')) as JobView[];

  before(async () => {
    const port = await findFreePort({ host: '127.0.0.1', port: FIRST_PORT });
    other = await LocalCluster.startApart('--nodes', '2', '--listen', `127.0.0.1:${port}`);
    await other.ok('user', 'create', userInfo().username, '--role', 'operator');
    writeFileSync(at('token'), await other.ok('token', 'create'), { mode: 0o600 });
    const pem = readFileSync(join(other.state, 'head', 'tls', 'certificate.pem'));
    const fingerprint = new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
    program = [
      ...[process.execPath, join(repository, 'bin/weft.mjs')],
      ...['--head', `https://127.0.0.1:${port}`, '--fingerprint', fingerprint],
      ...['--token-file', at('token')],
    ];
    await world.startHead();
    const site = { system: 'weft', program: program.join(','), poll: '1s', timeout: '10s' };
    await world.addGateway('lab', site, {});
    await world.nodesUp(1, /^lab$/);
  });
  afterEach(showLogs(world));
  after(async () => {
    await world.close(() => undefined);
    await other?.close();
  });

  it('offers what its nodes have, and shows them', async () => {
    const [node] = await world.nodes();
    assert.equal(node?.total.cpuCount, 4);
    await until('the site is listed', async () => {
      return /lab +weft +submit +up +2\/2/.test(await weft('site', 'list')) || undefined;
    });
    assert.match(await weft('site', 'show', 'lab'), /n1 +idle(.|\n)*default +yes +yes/);
  });

  it('a job runs there, and its output, exit code and files come home', async () => {
    const line = 'echo "on $(uname -n) with $WEFT_CPUS"; echo made > made; exit 3';
    const id = await weft('run', '--cpus', '2', '--', line);
    assert.equal((await world.tried('wait', id)).code, 3);
    assert.match(await weft('logs', id), /^on \S+ with 2$/);
    await weft('pull', id, '--save-dir', at('pulled'));
    assert.equal(readFileSync(at('pulled', id, 'made'), 'utf8'), 'made\n');
    const [job] = await there();
    assert.deepEqual([job?.outcome?.kind, job?.exit], ['failed', { code: 3 }]);
  });

  it('its head is killed and comes back: nothing is lost, and nothing runs twice', async () => {
    const line = `echo ran >> ${at('ran')}; until [ -e ${at('go')} ]; do sleep 0.1; done; exit 4`;
    const id = await weft('run', '--', line);
    await world.become(Number(id), /^running/);
    await other.kill('head');
    await until('the site says that its head is away', async () => {
      return /No head answers/.test(await weft('site', 'show', 'lab')) || undefined;
    });
    // Submitted while nobody answers there.
    const late = await weft('run', '--', `echo late >> ${at('ran')}`);
    await world.become(Number(id), /^running/);
    writeFileSync(at('go'), '');
    await other.up('--nodes', '2');
    assert.equal((await world.tried('wait', id)).code, 4);
    assert.equal((await world.tried('wait', late)).code, 0);
    assert.deepEqual(readFileSync(at('ran'), 'utf8').split('\n').sort(), ['', 'late', 'ran']);
    assert.equal(new Set((await there()).map(({ name }) => name)).size, (await there()).length);
  });

  it('a submission that is sent again is the same job', async () => {
    mkdirSync(at('again'));
    writeFileSync(at('again', 'script'), 'exit 0\n');
    const { command, read } = adaptorOf(program).submit({
      name: 'weft-again-1',
      script: '',
      scriptFile: at('again', 'script'),
      queue: null,
      account: null,
      walltimeMs: null,
      nodeCount: 1,
      cpuCount: 1,
      memoryBytes: null,
      directory: at('again'),
      stdout: at('again', 'out'),
      stderr: at('again', 'err'),
      options: [],
    });
    const send = async () => {
      const { code, out, error } = await runProgram(command.argv);
      const id = read({ stdout: out, stderr: error, code });
      return id.ok ? id.value : assert.fail(id.error.text);
    };
    assert.equal(await send(), await send());
  });

  it('cancelling here ends it there', async () => {
    const running = await weft('run', '--', 'sleep 600');
    await world.become(Number(running), /^running/);
    await weft('kill', running);
    await world.become(Number(running), /^cancelled/);
    await until('nothing is left there', async () => {
      return (await there()).every(({ state }) => state === 'done') || undefined;
    });
  });

  it('a node is stopped and restored there, and shown so here', async () => {
    const { setNode } = adaptorOf(program);
    const changed = async (kind: 'stop' | 'restore') => {
      const change = kind === 'stop' ? { kind, reason: 'disk "7"' } : { kind };
      for (const { argv } of setNode({ node: 'n2', ...change })) {
        const { code, error } = await runProgram(argv);
        assert.equal(code, 0, error);
      }
    };
    await changed('stop');
    const shown = async (words: RegExp) =>
      until(`the site shows ${words}`, async () => {
        return words.test(await weft('site', 'show', 'lab')) || undefined;
      });
    await shown(/n2 +stopped.*disk "7"/);
    await changed('restore');
    await shown(/n2 +idle/);
  });

  it('a token that is revoked fails no job', async () => {
    const tokens = JSON.parse(await other.ok('token', 'list', '-o', 'json')) as { id: string }[];
    const secret = readFileSync(at('token'), 'utf8');
    const own = tokens.find(({ id }) => secret.includes(id));
    await other.ok('token', 'revoke', own?.id ?? '');
    const id = await weft('run', '--', 'exit 5');
    await until('the site says why', async () => {
      return /token is unknown, revoked/.test(await weft('site', 'show', 'lab')) || undefined;
    });
    writeFileSync(at('token'), await other.ok('token', 'create'));
    assert.equal((await world.tried('wait', id)).code, 5);
  });
});
