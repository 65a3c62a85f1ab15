// Where cgroups are, from the texts of /proc on machines of each kind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHierarchies } from '../../../../src/kernel/os/cgroup/hierarchies.ts';

test('a machine with version 2 only, under a service manager', () => {
  const mounts = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n';
  assert.deepEqual(parseHierarchies(mounts, '0::/system.slice/weft.service\n'), [
    { version: 2, controllers: [], path: '/sys/fs/cgroup/system.slice/weft.service' },
  ]);
});

test('a machine with both versions, controllers mounted one by one or together', () => {
  const mounts = [
    '31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755',
    '32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct',
    '35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory',
    '41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw',
  ].join('\n');
  const own = '4:memory:/jobs/x\n2:cpu,cpuacct:/\n0::/\n';
  assert.deepEqual(parseHierarchies(mounts, own), [
    { version: 1, controllers: ['cpu', 'cpuacct'], path: '/sys/fs/cgroup/cpu,cpuacct' },
    { version: 1, controllers: ['memory'], path: '/sys/fs/cgroup/memory/jobs/x' },
    { version: 2, controllers: [], path: '/sys/fs/cgroup/unified' },
  ]);
});

test('a container sees its own part of a mount, and read-only mounts do not count', () => {
  const mounts = [
    '1 0 0:1 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
    '2 0 0:2 /docker/abc /sys/fs/cgroup/pids ro - cgroup cgroup rw,pids',
  ].join('\n');
  assert.deepEqual(parseHierarchies(mounts, '3:memory:/docker/abc/in\n2:pids:/docker/abc\n'), [
    { version: 1, controllers: ['memory'], path: '/sys/fs/cgroup/memory/in' },
  ]);
});

test("a host's mount in a container with a namespace of its own is of no use", () => {
  const mounts = '1 0 0:26 /../../.. /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate';
  assert.deepEqual(parseHierarchies(mounts, '0::/\n'), []);
});

test('spaces in mount points are unescaped', () => {
  const mounts = '1 0 0:1 / /my\\040cgroups rw - cgroup2 cgroup2 rw';
  assert.equal(parseHierarchies(mounts, '0::/a')[0]?.path, '/my cgroups/a');
});
