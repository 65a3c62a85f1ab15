// What `weft doctor` says of the limit of open files.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { LocalPaths } from '../../../../src/kernel/cli/daemons/local-paths.ts';
import { openFiles } from '../../../../src/kernel/cli/doctor/open-files.ts';
import { writeMark } from '../../../../src/kernel/connect/process-file.ts';

const line = (soft: string) =>
  `Max open files            ${soft}                 ${soft}     files\n`;
const NOWHERE = new LocalPaths('/no/such');

function folder(t: TestContext): LocalPaths {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-files-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const paths = new LocalPaths(directory);
  paths.make('own');
  return paths;
}

test('a limit of open files that is too low is told with the way out', () => {
  const [low] = openFiles(NOWHERE, () => line('256'));
  assert.equal(low?.state, 'note');
  assert.match(low?.text ?? '', /^a process may have 256 files open: /);
  assert.match(low?.remedy ?? '', /LimitNOFILE/);
  for (const enough of ['1024', '20000', 'unlimited']) {
    assert.deepEqual(
      openFiles(NOWHERE, () => line(enough)),
      [{ state: 'ok', text: `a process may have ${enough} files open` }],
    );
  }
});

/** One that may open few files, as a daemon that was started in another shell. */
async function limited(t: TestContext, most: number): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', `ulimit -n ${most}; echo; exec sleep 600`]);
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('a head and agents that run with a lower limit than this shell are told by name', async (t) => {
  const paths = folder(t);
  const [head, agent, other] = [await limited(t, 200), await limited(t, 300), process];
  const marks = { head, n1: agent, n2: agent, n10: agent, n3: other };
  for (const [name, { pid = 0 }] of Object.entries(marks)) writeMark(paths.mark(name), pid);
  // Who brings the cluster up, and one that is gone.
  writeMark(paths.upLock, head.pid ?? 0);
  writeFileSync(paths.mark('n4'), '{}');
  const [own, ...others] = openFiles(paths);
  assert.match(own?.text ?? '', /^a process may have (\d+|unlimited) files open/);
  assert.deepEqual(
    others.map(({ state, text }) => [state, text.split(':')[0]]),
    [
      ['note', 'head may have 200 files open'],
      ['note', 'n1, n2, n10 may each have 300 files open'],
    ],
  );
});
