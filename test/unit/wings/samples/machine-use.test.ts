// Whose sessions are whose.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { diskBytes, netBytes } from '../../../../src/wings/samples/os/machine-flow.ts';
import { marked, systemUse } from '../../../../src/wings/samples/os/machine-use.ts';

test('[V11] sessions that inherited one mark are all told, each by its own name', () => {
  const session = (startTicks: string) => ({ startTicks, cpuMs: 5, memoryBytes: 7 });
  const sessions = new Map([
    ['10', session('1')],
    ['11', session('2')],
    ['12', session('3')],
    ['13', session('')],
    ['14', session('4')],
  ]);
  const known: Readonly<Record<string, string | null | undefined>> = {
    10: 'one',
    11: 'one',
    12: null,
    13: 'one',
    14: undefined,
  };
  const marks = new Map<string, string | null>([['9@1', 'one']]);
  const found = marked(sessions, marks, (name) => known[name]);
  const use = { cpuMs: 5, memoryBytes: 7 };
  assert.deepEqual(
    [...found],
    [
      [
        'one',
        [
          { name: '10@1', ...use },
          { name: '11@2', ...use },
        ],
      ],
    ],
  );
  assert.deepEqual([...marks.keys()], ['10@1', '11@2', '12@3'], 'what has ended is forgotten');
});

test('[V11] a machine says how many cpus it has', () => {
  const { cpuCount, whole } = systemUse().look();
  assert.ok(cpuCount !== null && cpuCount >= 1);
  assert.ok(whole !== null && whole.memoryBytes > 0);
});

test('[V11] bytes of whole disks count, not those of their parts or of what is made of them', () => {
  const row = (name: string) => `   8 0 ${name} 5 0 100 9 7 0 40 9 0 0 0`;
  const names = ['sda', 'sda1', 'nvme0n1', 'nvme0n1p2', 'dm-0', 'loop3', 'md0'];
  assert.deepEqual(diskBytes(names.map(row).join('\n')), [200 * 512, 80 * 512]);
  assert.equal(diskBytes(row('loop0')), null);
  assert.equal(diskBytes('   8 0 sda x y\n'), null);
});

test('[V11] bytes over networks of hardware count, and in a container those that it has', () => {
  const row = (name: string, to: number) => `  ${name}: ${to} 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0`;
  const text = ['Inter-| Receive', ' face |bytes', row('lo', 900), row('eth0', 5), row('br0', 5)];
  const all = [...text, row('veth12', 80)].join('\n');
  assert.deepEqual(
    netBytes(all, (name) => name === 'eth0'),
    [5, 7],
  );
  assert.deepEqual(
    netBytes(all, () => false),
    [10, 14],
  );
  assert.equal(
    netBytes('', () => true),
    null,
  );
});

test('[V11] this machine says what its own processes read and wrote', () => {
  const { flow } = systemUse().look();
  for (const amount of Object.values(flow ?? {})) assert.ok(Number.isSafeInteger(amount));
});
