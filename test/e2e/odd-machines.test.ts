// Machines and users as they are: few open files, a number without an account, no terminal.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';

const WEFT = [process.execPath, path.join(repository, 'bin', 'weft.mjs')];
/** A uid that no account has here. */
const BARE_UID = 79_999;
/** What an agent and its launcher have open before any task, and room for some starts at once. */
const FILES_MAX = 128;

interface Odd {
  readonly weft: (...args: string[]) => ReturnType<typeof runProgram>;
  readonly environment: NodeJS.ProcessEnv;
  readonly prefix: readonly string[];
}

/** Runs `weft` behind these words, in a folder of its own; ends its cluster afterwards. */
async function behind(prefix: readonly string[], use: (odd: Odd) => Promise<void>): Promise<void> {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-odd-'));
  chmodSync(home, 0o777);
  const environment = cleanEnvironment({ HOME: home, WEFT_DIR: path.join(home, 'state') });
  const weft = (...args: string[]) =>
    runProgram([...prefix, ...WEFT, ...args], { cwd: home, env: environment });
  try {
    await use({ weft, environment, prefix });
  } finally {
    await weft('down', '--clean');
    rmSync(home, { recursive: true, force: true });
  }
}

/** Standard output; fails with all that was said unless it ended well. */
async function ok(said: ReturnType<typeof runProgram>): Promise<string> {
  const { code, out, error } = await said;
  assert.equal(code, 0, `${out}${error}`);
  return out;
}

test('[N23] a hundred and fifty tasks run at once where the agent may open few files', async () => {
  const shell = ['sh', '-c', `ulimit -n ${FILES_MAX} && exec "$@"`, 'sh'];
  await behind(shell, async ({ weft }) => {
    await ok(weft('up', '--nodes', '1', '--cpus', '150', '--memory', '4G'));
    await ok(weft('run', '--wait', '--memory', '8M', '--array', '0-149', 'sleep 3'));
    assert.match(await ok(weft('info')), /^n1 +idle /m);
    assert.match(await ok(weft('history', '1')), /completed/);
  });
});

test('a number that no account has starts a cluster and runs a job', async () => {
  const bare = ['setpriv', '--reuid', `${BARE_UID}`, '--regid', `${BARE_UID}`, '--clear-groups'];
  await behind(bare, async ({ weft }) => {
    await ok(weft('up', '--nodes', '1', '--cpus', '1', '--memory', '512M'));
    assert.equal(await ok(weft('run', '--follow', 'id -u')), `${BARE_UID}\n`);
    assert.match(
      await ok(weft('jobs', '--all')),
      new RegExp(`^ +1 .* uid${BARE_UID} +completed`, 'm'),
    );
  });
});

test('`weft run --follow` goes on when the terminal it was started from is gone', async () => {
  await behind([], async ({ weft, environment }) => {
    await ok(weft('up', '--nodes', '1', '--cpus', '1', '--memory', '512M'));
    const [program = '', ...first] = WEFT;
    const args = [...first, 'run', '--follow', 'echo begun; read answer; echo $answer'];
    const child = spawn(program, args, { env: environment, stdio: 'pipe' });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    await until('the job has begun', () => out.includes('begun') || undefined);
    child.kill('SIGHUP');
    child.stdin.end('still here\n');
    const code = await new Promise((resolve) => child.once('close', resolve));
    assert.deepEqual([code, out], [0, 'begun\nstill here\n']);
  });
});
