// The Python package against a head of `weft up`: its own tests, run by the machine's Python.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setUpVenv } from '../../tools/python-venv.ts';
import { cleanEnvironment, LocalCluster, repository, runProgram } from './support/local-cluster.ts';

/** Another Python than the machine's own may be first on the PATH. */
const system = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import cloudpickle']).status === 0,
);
// CI must not lose the tests.
const isHere = system !== undefined || process.env['CI'] === 'true';
const skip = isHere ? false : 'no python3 with cloudpickle here';
/** The last releases that were tried. */
const SCIENCE = ['cloudpickle==3.1.3', 'numpy==2.4.6', 'joblib==1.6.0', 'dask==2026.8.0'];
const PACKAGE = join(repository, 'python');

/** Null: this machine has none of this version. */
function pythonOf(version: string): string | null {
  const name = `python${version}`;
  if (spawnSync(name, ['-c', '']).status === 0) return name;
  const prefix = spawnSync('pyenv', ['prefix', version], { encoding: 'utf8' });
  return prefix.status === 0 ? join(prefix.stdout.trim(), 'bin', name) : null;
}

describe('the Python package', { skip, timeout: 900_000 }, () => {
  const cluster = new LocalCluster();
  let remote: NodeJS.ProcessEnv = {};
  before(async () => {
    const said = await cluster.up('--nodes', '2');
    const address = /https:\/\/\S+?:\d+/.exec(said)?.[0];
    assert.ok(address !== undefined, said);
    const tls = join(cluster.state, 'head', 'tls', 'certificate.pem');
    const { fingerprint256 } = new X509Certificate(readFileSync(tls));
    const made = await cluster.client.call<{ token: string }>('POST', '/v1/tokens', {});
    remote = {
      WEFT_TEST_HEAD: address,
      WEFT_TEST_FINGERPRINT: fingerprint256,
      WEFT_TEST_TOKEN: made.token,
    };
  });
  after(() => cluster.close());

  async function python(program: string, ...words: string[]) {
    const env = cleanEnvironment({
      ...cluster.env,
      ...remote,
      PYTHONPATH: `${join(PACKAGE, 'src')}:${PACKAGE}`,
      PYTHONDONTWRITEBYTECODE: '1',
      WEFT_DIR: cluster.state,
    });
    const said = await runProgram([program, ...words], { env, cwd: cluster.work });
    assert.equal(said.code, 0, `${said.out}${said.error}`);
    return said;
  }
  async function passes(module: string, program = system ?? 'python3'): Promise<void> {
    const words = ['-W', 'error::ResourceWarning', '-m', 'unittest', '-v', module];
    assert.match((await python(program, ...words)).error, /^OK$/m, 'all of them ran');
  }

  it('is of the oldest grammar that it is for', () => passes('tests.test_sources'));
  it('the table of an Executor while its head is away', () => passes('tests.test_table'));
  it('jobs, arrays, files, output, events and mistakes', () => passes('tests.test_client'));
  it('functions: what they give and raise, and what is killed', () =>
    passes('tests.test_executor'));
  it('[C20] large values lie in memory', () => passes('tests.test_near'));
  it('asyncio: jobs, events and futures that are awaited', () => passes('tests.test_aio'));
  it('numpy, joblib and dask', async (t) => {
    const { bin, reason } = setUpVenv('python-science', SCIENCE);
    // CI must not lose the test; without a network a developer is told why.
    if (bin === null && process.env['CI'] !== 'true') return t.diagnostic(reason);
    await passes('tests.test_science', join(bin ?? '', 'python'));
  });
  // The oldest, and a new one; where the machine has them.
  for (const version of ['3.9', '3.13']) {
    const own = pythonOf(version);
    const isLacking = own === null && `no Python ${version} here`;
    it(`Python ${version}`, { skip: isLacking }, async (t) => {
      const { bin, reason } = setUpVenv(`python-${version}`, ['cloudpickle==3.1.3'], own ?? '');
      if (bin === null) return t.diagnostic(reason);
      for (const module of ['tests.test_client', 'tests.test_executor.Calls', 'tests.test_near']) {
        await passes(module, join(bin, 'python'));
      }
    });
  }
  it('an example throws points until its estimate is good enough', async () => {
    const { out } = await python(
      system ?? 'python3',
      join(PACKAGE, '../examples/python/pi.py'),
      '0.01',
    );
    assert.match(out, /^pi is 3\.1\d+ \+- 0\.00\d+, from \d+ points$/m);
  });
  it('its page says what is so', () => passes('tests.test_page'));
});
