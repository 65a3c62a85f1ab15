// Groups on the real kernel, where this user may make them.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import {
  readHierarchies,
  systemContainment,
} from '../../../../src/kernel/os/cgroup/containment.ts';
import { removeDirectories } from '../../../../src/kernel/os/cgroup/group.ts';
import type { Hierarchy } from '../../../../src/kernel/os/cgroup/hierarchies.ts';
import { KeptFiles } from '../../../../src/kernel/os/cgroup/kept-files.ts';
import { findLayout } from '../../../../src/kernel/os/cgroup/layout.ts';
import type { Group } from '../../../../src/kernel/ports/containment.ts';

const instance = `test-${process.pid}`;
const containment = systemContainment(instance);
const hasMemory = containment.limits === 'cgroup';
const skip = hasMemory ? false : 'no cgroup with a memory controller can be made here';
const MIB = 1_048_576;
after(() => containment.close());

/** Starts a shell line inside the group. */
function inside(group: Group, line: string): ChildProcess {
  const joins = group.procs.map((file) => `echo 0 > ${file}`).join(' && ');
  return spawn('sh', ['-c', `${joins} && ${line}`], { stdio: ['pipe', 'pipe', 'inherit'] });
}

async function emptied(name: string, of = containment): Promise<void> {
  const until = performance.now() + 60_000;
  while (!of.isEmpty(name)) {
    assert.ok(performance.now() < until, `${name} is empty in time`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('where no group can be made, that is said and nothing pretends', { skip: hasMemory }, () => {
  assert.equal(containment.polled, true);
  assert.notEqual(containment.limits, 'cgroup');
});

test('more memory than the limit is a kill that the group knows of', { skip }, async () => {
  const group = containment.acquire({ memoryBytes: 32 * MIB, cpuCount: null }) as Group;
  const child = inside(group, 'exec tail /dev/zero');
  const [, signal] = await once(child, 'exit');
  assert.equal(signal, 'SIGKILL');
  await emptied(group.name);
  const use = containment.use(group.name);
  assert.equal(use.outOfMemory, true);
  assert.ok((use.memoryPeakBytes ?? 0) > 16 * MIB);
  containment.release(group.name);
  const next = containment.acquire({ memoryBytes: 32 * MIB, cpuCount: null }) as Group;
  assert.equal(containment.use(next.name).outOfMemory, false, 'the next task is not to blame');
  containment.release(next.name);
});

test('a kill nobody asked about is not told of the next task either', { skip }, async () => {
  const limits = { memoryBytes: 24 * MIB, cpuCount: null };
  const group = containment.acquire(limits) as Group;
  // The main process ends well, as the sweeper then asks nothing; only its child is too large.
  await once(inside(group, 'tail /dev/zero; exit 0'), 'exit');
  await emptied(group.name);
  containment.release(group.name);
  const next = containment.acquire(limits) as Group;
  assert.equal(containment.use(next.name).outOfMemory, false);
  containment.release(next.name);
});

test('[J29] without a limit the kernel counts whom it kills, and files are not memory', {
  skip,
}, async () => {
  const own = systemContainment(`${instance}-free`);
  const group = own.acquire({ memoryBytes: null, cpuCount: null }) as Group;
  const file = join(mkdtempSync(join(tmpdir(), 'weft-cgroup-')), 'cached');
  const holds = inside(group, `head -c 48M /dev/zero > ${file}; echo ready; read go; exit 0`);
  await once(holds.stdout as NonNullable<typeof holds.stdout>, 'data');
  const calm = own.memory(group.name);
  assert.ok(calm !== null && calm.kills === 0 && calm.bytes < 24 * MIB, JSON.stringify(calm));
  holds.stdin?.end('\n');
  await once(holds, 'exit');
  rmSync(dirname(file), { recursive: true });
  // The machine has no more: as if it were no larger than this.
  const outer = dirname(dirname(group.procs.find((path) => hasMemoryFiles(path)) as string));
  writeFileSync(join(outer, limitFileIn(outer)), `${32 * MIB}`);
  await once(inside(group, 'tail /dev/zero; exit 0'), 'exit');
  assert.ok((own.memory(group.name)?.kills ?? 0) > 0);
  assert.equal(own.use(group.name).outOfMemory, true);
  own.release(group.name);
  own.close();
});

/** Whether a group of the memory controller has this file, by what lies beside it. */
function hasMemoryFiles(procs: string): boolean {
  return ['memory.events', 'memory.oom_control'].some((name) =>
    existsSync(join(dirname(procs), name)),
  );
}

function limitFileIn(directory: string): string {
  const isOld = existsSync(join(directory, 'memory.limit_in_bytes'));
  return isOld ? 'memory.limit_in_bytes' : 'memory.max';
}

test('equal limits get an emptied group again, with a peak of its own', { skip }, async () => {
  const limits = { memoryBytes: 256 * MIB, cpuCount: 1 };
  const first = containment.acquire(limits) as Group;
  const big = inside(first, 'head -c 64000000 /dev/zero | tail > /dev/null');
  await once(big, 'exit');
  await emptied(first.name);
  const bigPeak = containment.use(first.name).memoryPeakBytes ?? 0;
  assert.ok(bigPeak > 60 * MIB, `${bigPeak}`);
  containment.release(first.name);
  const second = containment.acquire(limits) as Group;
  assert.equal(second.name, first.name);
  await once(inside(second, 'true'), 'exit');
  await emptied(second.name);
  assert.ok((containment.use(second.name).memoryPeakBytes ?? 0) < bigPeak);
  containment.release(second.name);
});

test('idle groups of limits that nobody asks for any more make room', { skip }, () => {
  const small = systemContainment(`${instance}-small`, { idleMax: 2 });
  const take = (mebibytes: number): Group =>
    small.acquire({ memoryBytes: mebibytes * MIB, cpuCount: null }) as Group;
  const before = [take(16), take(16)];
  for (const { name } of before) small.release(name);
  const first = take(32);
  small.release(first.name);
  const second = take(32);
  assert.equal(second.name, first.name, 'used again although the others came first');
  const stays = before.filter(({ procs }) => procs.every((file) => existsSync(file)));
  assert.equal(stays.length, 1, 'one of the others went');
  small.release(second.name);
  small.close();
  for (const { procs } of [first, ...before]) assert.ok(!existsSync(procs[0] as string));
});

test('[N23] a group tells the same where no file may be kept open', { skip }, async () => {
  const bare = systemContainment(`${instance}-bare`, { idleMax: 2, files: new KeptFiles(0) });
  const limits = { memoryBytes: 64 * MIB, cpuCount: null };
  const group = bare.acquire(limits) as Group;
  const child = inside(group, 'echo ready; exec sleep 300');
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  assert.equal(bare.isEmpty(group.name), false);
  assert.ok((bare.memory(group.name)?.bytes ?? 0) > 0);
  bare.kill(group.name);
  await once(child, 'exit');
  await emptied(group.name, bare);
  assert.ok((bare.use(group.name).memoryPeakBytes ?? 0) > 0);
  bare.release(group.name);
  const next = bare.acquire(limits) as Group;
  assert.equal(next.name, group.name, 'it is used again');
  bare.release(next.name);
  bare.close();
});

test('a kill reaches what left the session and what forked away', { skip }, async () => {
  const group = containment.acquire({ memoryBytes: null, cpuCount: 0.5 }) as Group;
  const child = inside(group, 'setsid -f sleep 300; (sleep 300 &) ; echo ready; exec sleep 300');
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  assert.equal(containment.isEmpty(group.name), false);
  containment.kill(group.name);
  await once(child, 'exit');
  await emptied(group.name);
  containment.release(group.name);
});

test('after a restart a held group is still there, others are removed', { skip }, async () => {
  const limits = { memoryBytes: 64 * MIB, cpuCount: null };
  const held = containment.acquire(limits) as Group;
  const stray = containment.acquire(limits) as Group;
  const child = inside(held, 'echo ready; exec sleep 300');
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  const again = systemContainment(instance);
  again.adopt([held.name]);
  assert.equal(again.isEmpty(held.name), false);
  assert.ok(stray.procs.every((file) => !existsSync(dirname(file))));
  again.kill(held.name);
  await once(child, 'exit');
  await emptied(held.name);
  again.release(held.name);
  assert.ok(held.procs.every((file) => !existsSync(dirname(file))));
  again.close();
});

const unified = readHierarchies().find(({ version }) => version === 2);
const skipUnits =
  unified === undefined || process.getuid?.() !== 0 ? 'needs root and version 2' : false;

test('under systemd, groups are made in the unit of jobs', { skip: skipUnits }, () => {
  const slice = join((unified as Hierarchy).path, `${instance}.slice`);
  const [agent, jobs] = ['weft-agent.service', 'weft-jobs.service'].map((unit) =>
    join(slice, unit),
  );
  for (const path of [agent, jobs]) mkdirSync(path as string, { recursive: true });
  const place = () => findLayout([{ version: 2, controllers: [], path: agent as string }], 'weft');
  try {
    assert.equal(place().tracker?.path, join(jobs as string, 'weft'));
    removeDirectories([join(jobs as string, 'weft'), jobs as string]);
    assert.equal(place().tracker?.path, join(agent as string, 'weft'), 'without that unit');
  } finally {
    removeDirectories([join(agent as string, 'weft'), agent as string, slice]);
  }
});

test('an agent that may not move processes there leaves the unit of jobs alone', {
  skip: skipUnits,
}, () => {
  const slice = join((unified as Hierarchy).path, `${instance}-user.slice`);
  const units = ['weft-agent.service', 'weft-jobs.service'];
  // Both units are its own, the group above them is not: there is nothing it could write to.
  const seen = mkdtempSync(join(tmpdir(), 'weft-slice-'));
  for (const unit of units) {
    mkdirSync(join(slice, unit), { recursive: true });
    symlinkSync(join(slice, unit), join(seen, unit));
  }
  const agent = join(seen, 'weft-agent.service');
  try {
    const { tracker } = findLayout([{ version: 2, controllers: [], path: agent }], 'weft');
    assert.equal(tracker?.path, join(agent, 'weft'));
  } finally {
    for (const unit of units) removeDirectories([join(slice, unit, 'weft'), join(slice, unit)]);
    removeDirectories([slice]);
    rmSync(seen, { recursive: true });
  }
});
