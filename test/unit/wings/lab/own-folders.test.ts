// What `weft setup remove` may remove, and what keeps it from that.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeMark } from '../../../../src/kernel/connect/process-file.ts';
import {
  checkedFolders,
  mountPoints,
  refuseLiving,
  removeFolder,
} from '../../../../src/wings/lab/cli/setup/setup-remove.ts';
import { agentUnit, headUnit, stateIn } from '../../../../src/wings/lab/core/setup/user-units.ts';
import { makeFolder } from '../../../support/folder.ts';

test('[Y17] folders are those that an installed unit names', () => {
  for (const state of ['/srv/ann/weft', '/a "b" 100% $x \\ %%c']) {
    assert.equal(stateIn(headUnit({ weft: '/w', state })), state);
    assert.equal(stateIn(agentUnit({ weft: '/w', state })), state);
  }
  assert.equal(stateIn('[Service]\nExecStart=/bin/true\n'), null);
});

test('[Y17] a folder with something of somebody else is refused', (t) => {
  const folder = makeFolder(t, { 'head/weft.db': '', 'weft.yaml': '', 'weft.sock.lock': '' });
  assert.deepEqual(checkedFolders([folder, join(folder, 'none')], 'user'), [folder]);
  writeFileSync(join(folder, 'thesis.tex'), '');
  assert.throws(() => checkedFolders([folder], 'user'), /has 'thesis\.tex', which is nothing of/);
});

test('[Y17] a link is refused with where it leads, and so are other file systems', (t) => {
  const folder = makeFolder(t, { 'disk/head/weft.db': '' });
  const link = join(folder, 'weft');
  symlinkSync(join(folder, 'disk'), link);
  assert.throws(() => checkedFolders([link], 'machine'), /weft is a link to .*disk/);
  assert.throws(() => checkedFolders(['/proc'], 'machine'), /is a file system of its own/);
  const line = '36 35 98:0 / /mnt/a\\040b rw - ext3 /dev/root rw';
  assert.deepEqual(mountPoints(`${line}\n`), ['/mnt/a b']);
});

test('[Y17] where a head or an agent lives nothing is removed', (t) => {
  const folder = makeFolder(t, { 'run/up.pid': '' });
  refuseLiving([folder]);
  writeMark(join(folder, 'run/n1.pid'), process.pid);
  assert.throws(() => refuseLiving([folder]), /the agent of n1 lives in .* nothing there was/);
  renameSync(join(folder, 'run/n1.pid'), join(folder, 'run/head.pid'));
  assert.throws(() => refuseLiving([folder]), /a head lives in .*\(process \d+\)/);
});

test('[Y17] a folder goes with all in it, and no link in it is followed', (t) => {
  const folder = makeFolder(t, {
    'weft/head/weft.db': '1',
    'weft/weft.yaml': '',
    'other/kept': '',
  });
  mkdirSync(join(folder, 'weft/nodes/empty'), { recursive: true });
  symlinkSync(join(folder, 'other'), join(folder, 'weft/link'));
  symlinkSync(join(folder, 'other'), join(folder, 'weft/head/link'));
  removeFolder(join(folder, 'weft'));
  assert.ok(!existsSync(join(folder, 'weft')));
  assert.deepEqual(readdirSync(join(folder, 'other')), ['kept']);
});
