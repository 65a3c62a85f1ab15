// Cgroups of killed agents, on the machine's own cgroups.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { err, ok } from '../../../../src/kernel/base/result.ts';
import {
  areProcessesHidden,
  cgroupMounts,
  leftoverGroups,
  livingInstances,
  OF_AGENTS,
  removeGroups,
} from '../../../../src/kernel/cli/doctor/leftover-groups.ts';
import { readHierarchies } from '../../../../src/kernel/os/cgroup/containment.ts';
import { findLayout } from '../../../../src/kernel/os/cgroup/layout.ts';
import { sweepGroups } from '../../../../tools/testing/sweep-groups.ts';

const HOUR_MS = 3_600_000;
const MODULE = import.meta.resolve('../../../../src/kernel/cli/doctor/leftover-groups.ts');

/** A group of our own to work in; null where none can be made. */
function makeRoot(): string | null {
  for (const mount of ['/sys/fs/cgroup/unified', '/sys/fs/cgroup/freezer', '/sys/fs/cgroup']) {
    try {
      const root = `${mount}/leftovers-of-a-test-${process.pid}`;
      mkdirSync(root);
      if (existsSync(`${root}/cgroup.procs`)) return root;
      rmdirSync(root);
    } catch {
      // Not here, or not ours: the next one may be.
    }
  }
  return null;
}

const root = makeRoot() ?? '';
const canUnshare = spawnSync('unshare', ['-pf', 'true']).status === 0;
const skip = root === '' ? 'no cgroup can be made on this machine' : false;
const needsBoth = canUnshare ? { skip } : { skip: 'no pid namespace can be made here' };

test('directories are looked for wherever agents make them', () => {
  const { controllers, tracker, devices } = findLayout(readHierarchies(), `mounts-${process.pid}`);
  const bases = [...controllers.values(), tracker, devices].filter((base) => base !== null);
  const places = [...new Set(bases.map((base) => base.path))];
  for (const place of places) rmdirSync(place);
  const mounts = cgroupMounts(OF_AGENTS);
  for (const place of places) {
    assert.ok(
      mounts.some((mount) => place.startsWith(`${mount}/`)),
      place,
    );
  }
});

test('a test run begins by removing what killed ones have left', { skip }, () => {
  const place = `${root}/runs`;
  const gone = `${place}/weft-0000dead-0000`;
  mkdirSync(`${gone}/g1`, { recursive: true });
  const of = { mounts: [place], living: new Set<string>() };
  const find = () => ok(leftoverGroups({ ...of, now: Date.now() + HOUR_MS }));
  try {
    assert.equal(
      sweepGroups(() => err('nobody can tell')),
      0,
    );
    assert.equal(sweepGroups(find), 1);
    assert.ok(!existsSync(gone));
    assert.equal(sweepGroups(find), 0);
  } finally {
    removeGroups(place);
  }
});

test('only empty groups of dead agents are found and go, with all in them', { skip }, async () => {
  const [dead, alive, busy, other] = ['0000dead-0000', '0000a11e-0000', '0000b5ee-0000', 'other'];
  const directories = [dead, alive, busy, other].map((name) => `${root}/service/weft-${name}`);
  for (const directory of directories) mkdirSync(`${directory}/g1`, { recursive: true });
  const child = spawn('cat', [], { stdio: 'pipe' });
  const [gone = '', , full = ''] = directories;
  writeFileSync(`${full}/g1/cgroup.procs`, `${child.pid}`);
  try {
    const of = { mounts: [root], living: new Set([alive]) };
    assert.deepEqual(leftoverGroups({ ...of, now: Date.now() }), [], 'too young to tell');
    assert.deepEqual(leftoverGroups({ ...of, now: Date.now() + HOUR_MS }), [gone]);
    assert.equal(removeGroups(full), false);
    assert.equal(removeGroups(gone), true);
    assert.ok(!existsSync(gone) && existsSync(`${full}/g1`));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'close');
    for (const directory of [...directories, `${root}/service`, root]) removeGroups(directory);
  }
  assert.ok(!existsSync(root));
});

test(
  'from a pid namespace of its own the living cannot be told from the dead',
  needsBoth,
  async (t) => {
    const shared = makeRoot() ?? '';
    mkdirSync(`${shared}/weft-0000a11e-0002`);
    const outside = spawn('cat', [], { stdio: 'pipe' });
    t.after(async () => {
      outside.kill('SIGKILL');
      await once(outside, 'close');
      removeGroups(shared);
    });
    assert.equal(areProcessesHidden([shared]), false);
    writeFileSync(`${shared}/cgroup.procs`, `${outside.pid}`);
    assert.equal(areProcessesHidden([shared]), false);
    const script = `import { areProcessesHidden as look } from ${JSON.stringify(MODULE)};
    console.log(look([${JSON.stringify(shared)}]));`;
    const node = [process.execPath, '--input-type=module', '-e', script];
    const { stdout, stderr } = spawnSync('unshare', ['-pf', ...node], { encoding: 'utf8' });
    assert.equal(stdout, 'true\n', stderr);
  },
);

test('an agent is known to live by its launcher', async (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-launcher-'));
  t.after(() => rmSync(directory, { recursive: true }));
  writeFileSync(path.join(directory, 'instance'), '0000a11e-0001\n');
  const words = ['--socket', path.join(directory, 'launcher.sock')];
  const launcher = spawn('sh', ['-c', 'echo up; read -r _', 'launcher', ...words]);
  await once(launcher.stdout, 'data');
  assert.ok(livingInstances()?.has('0000a11e-0001'));
  launcher.stdin.end();
  await once(launcher, 'close');
  assert.ok(!livingInstances()?.has('0000a11e-0001'));
});

test('with a launcher that we may not look into, nobody is said to be dead', (t) => {
  const proc = mkdtempSync(path.join(tmpdir(), 'weft-proc-'));
  t.after(() => rmSync(proc, { recursive: true }));
  const process = path.join(proc, '17');
  mkdirSync(process);
  writeFileSync(path.join(process, 'cmdline'), 'weft-launcher\0--socket\0/n1/launcher.sock\0');
  assert.deepEqual(livingInstances(proc), new Set(['']), 'its directory was removed');
  // Not a link to a directory: as unreadable as the root of another user's process.
  writeFileSync(path.join(process, 'root'), '');
  assert.equal(livingInstances(proc), null);
});
