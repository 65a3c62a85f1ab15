// Machines and users as they are: few open files, a number without an account, no terminal; names
// with dots, @ and backslashes, homes with spaces and umlauts, umask 077, other shells and locales.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';
import { ROOT, SharedCluster, type User } from './support/shared-cluster.ts';

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
    await weft('down', '--clean', '--yes');
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

/** Names as directories, domains and administrators give them; each types into another shell. */
const PEOPLE: readonly (User & { readonly locale: string })[] = [
  { name: 'j.doe', uid: 42_011, home: 'Jürgen Groß', shell: '/bin/bash', locale: 'C' },
  {
    name: 'ann@lab.example',
    uid: 42_012,
    home: 'a b  c',
    shell: '/usr/bin/zsh',
    locale: 'C.UTF-8',
  },
  // A locale that the machine does not have, as ssh brings it.
  { name: 'LAB\\eva', uid: 42_013, shell: '/usr/bin/fish', locale: 'de_DE.UTF-8' },
  { name: 'Max', uid: 42_014, home: "Max's $HOME", shell: '/usr/bin/tcsh', locale: 'C.UTF-8' },
  { name: 'zoe_1-x', uid: 42_015, home: 'zoë', shell: '/bin/sh', locale: 'C' },
];

const rootOnly = process.getuid?.() === 0 ? false : 'only root can switch users';

test('odd names, homes, shells and locales run jobs as any other', { skip: rootOnly }, async () => {
  const cluster = await SharedCluster.start(PEOPLE);
  try {
    for (const person of PEOPLE) {
      const { name, uid, locale } = person;
      const job = 'id -un; pwd; umask; echo $LC_ALL; echo Größe | tee Größe';
      const line = `umask 077; weft run --follow '${job}'`;
      const { code, out, error } = await cluster.typed(person, line, { env: { LC_ALL: locale } });
      assert.equal(code, 0, `${name}: ${out}${error}`);
      assert.deepEqual(out.split('\n').slice(0, -1), [
        ...[name, cluster.home(person), '0077', locale, 'Größe'],
      ]);
      const made = statSync(path.join(cluster.home(person), 'Größe'));
      assert.deepEqual([made.uid, made.mode & 0o777], [uid, 0o600], name);
    }
    const jobs = JSON.parse(await cluster.ok(ROOT, 'jobs', '--all', '-o', 'json'));
    const owners = (jobs as { owner: string }[]).map(({ owner }) => owner);
    assert.deepEqual(owners.sort(), PEOPLE.map(({ name }) => name).sort());
  } finally {
    await cluster.close();
  }
});
