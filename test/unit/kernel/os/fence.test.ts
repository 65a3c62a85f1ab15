// Devices that are shut to groups, on the real kernel, in both of its ways.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import {
  readHierarchies,
  systemContainment,
} from '../../../../src/kernel/os/cgroup/containment.ts';
import type { Hierarchy } from '../../../../src/kernel/os/cgroup/hierarchies.ts';
import { ensureLauncher } from '../../../../src/kernel/os/launcher-build.ts';
import type { Containment, Group } from '../../../../src/kernel/ports/containment.ts';

/** A device that nobody needs, and one that everybody does. */
const [FULL, ZERO] = ['/dev/full', '/dev/zero'];
const LIMITS = { memoryBytes: null, cpuCount: null };
const SHUT = { ...LIMITS, shut: ['c1:7', 'b4095:7', 'c4095:1048575'] } as const;
const folder = mkdtempSync(join(tmpdir(), 'weft-fence-'));
const { kind, command } = await ensureLauncher(folder);
const launcher = kind === 'c' ? command : null;
after(() => rmSync(folder, { recursive: true, force: true }));

/** Whether a process of the group can read of it. */
async function opens(group: Group, device: string): Promise<boolean> {
  const joins = group.procs.map((file) => `echo 0 > ${file}`).join(' && ');
  const line = `${joins} && exec head -c 1 ${device} > /dev/null`;
  const [code] = await once(spawn('sh', ['-c', line], { stdio: 'ignore' }), 'exit');
  return code === 0;
}

async function emptied(containment: Containment, { name }: Group): Promise<void> {
  const until = performance.now() + 60_000;
  while (!containment.isEmpty(name)) {
    assert.ok(performance.now() < until, `${name} is empty in time`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** `way`: that of version 2 is taken where version 1 is not offered. */
function madeFor(way: string): Containment {
  const all = readHierarchies();
  const without = all.filter(({ controllers }) => !controllers.includes('devices'));
  const hierarchies = way === 'files' ? all : without;
  return systemContainment(`fence-${way}-${process.pid}`, { launcher, hierarchies });
}

/** Null: it holds here. */
function whyNot(way: string): string | null {
  const probe = madeFor(way);
  const { holds, words } = probe.fence;
  probe.close();
  return holds ? null : words;
}

for (const way of ['files', 'program']) {
  describe(`[V25] devices are shut by ${way} of the kernel`, { skip: whyNot(way) ?? false }, () => {
    test('a group opens none that are shut to it, and another one does', async (context) => {
      const containment = madeFor(way);
      context.after(() => containment.close());
      const shut = containment.acquire(SHUT) as Group;
      const open = containment.acquire(LIMITS) as Group;
      assert.deepEqual([await opens(shut, FULL), await opens(shut, ZERO)], [false, true]);
      assert.deepEqual([await opens(open, FULL), await opens(open, ZERO)], [true, true]);
      await emptied(containment, shut);
      await emptied(containment, open);
      containment.release(shut.name);
      const other = containment.acquire(LIMITS) as Group;
      assert.notEqual(other.name, shut.name, 'one that is shut is for nobody else');
      const again = containment.acquire(SHUT) as Group;
      assert.equal(again.name, shut.name);
      assert.equal(await opens(again, FULL), false, 'it is as shut as it was');
      await emptied(containment, again);
      for (const { name } of [open, other, again]) containment.release(name);
      containment.close();
      for (const file of [...shut.procs, ...open.procs]) assert.ok(!existsSync(dirname(file)));
    });

    test('what an agent finds of an earlier life is as shut, and not used again', async (context) => {
      const first = madeFor(way);
      context.after(() => first.close());
      const held = first.acquire(SHUT) as Group;
      const second = madeFor(way);
      context.after(() => second.close());
      second.adopt([held.name]);
      const joined = { name: held.name, procs: second.procs(held.name) };
      assert.equal(await opens(joined, FULL), false);
      await emptied(second, held);
      second.release(held.name);
      for (const file of held.procs) assert.ok(!existsSync(dirname(file)), file);
    });
  });
}

const listing = readHierarchies().find(
  ({ version, controllers }) => version === 1 && controllers.includes('devices'),
);
/** A group that lets in a list of devices only, as a container is in. */
function makeListed(lines: readonly string[]): { base: string; hierarchies: Hierarchy[] } {
  const base = `${listing?.path}/weft-fence-listed-${process.pid}`;
  mkdirSync(base);
  writeFileSync(`${base}/devices.deny`, 'a');
  for (const line of lines) writeFileSync(`${base}/devices.allow`, line);
  const { path } = listing ?? {};
  const hierarchies = readHierarchies().map((one) => {
    return one.path === path ? { ...one, path: base } : one;
  });
  return { base, hierarchies };
}

/** False: it can be made here. */
function whyNoList(): string | false {
  if (listing === undefined) return 'no version 1 here';
  try {
    rmdirSync(makeListed(['c 1:* rwm', 'c 195:* rwm']).base);
    return false;
  } catch (error) {
    return String(error);
  }
}

for (const [lines, isShut] of [
  [['c 1:* rwm', 'c 195:* rwm'], false],
  [['c 1:* rwm'], false],
  [['c 1:3 rwm', 'c 1:5 rwm', 'c 1:7 rwm'], true],
] as const) {
  test(`[V25] under a group that lets in ${lines} a fence ${isShut ? 'holds' : 'is none'}`, {
    skip: whyNoList(),
  }, async (context) => {
    const { hierarchies, base } = makeListed(lines);
    const containment = systemContainment(`listed-${process.pid}`, { hierarchies });
    context.after(() => {
      containment.close();
      rmdirSync(base);
    });
    const group = containment.acquire(SHUT);
    assert.ok(group !== null);
    assert.equal(await opens(group, FULL), !isShut);
    assert.equal(containment.fence.holds, isShut, containment.fence.words);
    if (!isShut) assert.match(containment.fence.words, /let in all of 'c \d+:\* rwm'/);
    await emptied(containment, group);
    containment.release(group.name);
  });
}

test('[V25] a group without its fence is a group, and it is said why', (context) => {
  const hierarchies = readHierarchies().filter((one) => !one.controllers.includes('devices'));
  const launcherThatFails = ['sh', '-c', 'echo no such luck >&2; exit 1', 'sh'];
  const name = `fence-none-${process.pid}`;
  const containment = systemContainment(name, { launcher: launcherThatFails, hierarchies });
  context.after(() => containment.close());
  const group = containment.acquire(SHUT);
  if (containment.facts === 'polling') return;
  assert.ok(group !== null);
  assert.equal(containment.fence.holds, false);
  assert.match(containment.fence.words, /no such luck|root|no cgroup that knows devices/);
  containment.release(group.name);
  // As long as it fails groups are open, and used again.
  const [next, after] = [containment.acquire(SHUT), containment.acquire(LIMITS)];
  assert.ok(next !== null && after !== null);
  for (const { name: one } of [next, after]) containment.release(one);
  assert.equal(containment.acquire(SHUT)?.name, after.name);
  containment.release(after.name);
});

test('[V25] the launcher takes devices, and nothing else', () => {
  const [program = '', ...words] = launcher ?? [];
  if (program === '') return;
  for (const device of ['195:0', 'c195', 'cx:0', 'd195:0', 'c195:0x', 'c4294967295:0', '']) {
    const { status, stderr } = spawnSync(program, [...words, '--fence', folder, device]);
    assert.deepEqual(
      [status, String(stderr)],
      [2, 'weft-launcher: --fence takes devices as c195:0\n'],
    );
  }
  const many = Array.from({ length: 513 }, (_, minor) => `c195:${minor}`);
  assert.equal(spawnSync(program, [...words, '--fence', folder, ...many]).status, 2);
  const { status } = spawnSync(program, [...words, '--fence', folder, 'c195:0']);
  assert.equal(status, 1, 'a folder that is no group');
});
