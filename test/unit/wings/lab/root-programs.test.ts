// What root runs for a set-up, and what nobody may see of one.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { whyUnsafe } from '../../../../src/wings/lab/cli/setup/root-programs.ts';
import { capture } from '../../kernel/cli/fake-head.ts';

const FOLDER = 0o040755;
const FILE = 0o100755;
const LINK = 0o120777;

type Entry = { readonly uid?: number; readonly gid?: number; readonly mode?: number };

/** Everything is root's but for what is named. */
function unsafe(file: string, named: Readonly<Record<string, Entry>>, real = file): string | null {
  return whyUnsafe(file, {
    status: (at) => ({ uid: 0, gid: 0, mode: at === file ? FILE : FOLDER, ...named[at] }),
    real: () => real,
  });
}

test('[Y23] root runs programs at boot only from folders in which nobody else writes', () => {
  const file = '/usr/local/bin/weft';
  assert.equal(unsafe(file, {}), null);
  assert.equal(unsafe(file, { [file]: { uid: 1000 } }), `${file} belongs to uid 1000`);
  const mode = 0o042775;
  assert.equal(
    unsafe(file, { '/usr/local/bin': { mode, gid: 50 } }),
    'group 50 may write to /usr/local/bin',
  );
  assert.equal(unsafe(file, { '/usr/local/bin': { mode } }), null, "root's group is root's");
  assert.equal(unsafe(file, { '/usr/local': { uid: 7 } }), '/usr/local belongs to uid 7');
  const open = { '/tmp': { mode: 0o041777 } };
  assert.equal(unsafe('/tmp/bin/weft', open), 'everybody may write to /tmp');
});

test('[Y23] a link is followed to where it leads, and its own mode says nothing', () => {
  const file = '/usr/bin/weft';
  const link = { [file]: { mode: LINK } };
  assert.equal(unsafe(file, link, '/opt/weft/bin/weft'), null);
  const home = { ...link, '/srv/ann': { uid: 1000 } };
  assert.equal(unsafe(file, home, '/srv/ann/weft'), '/srv/ann belongs to uid 1000');
});

test('[Y23] a join token is not taken from the command, where all users of the machine see it', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'weft-token-'));
  try {
    const argv = ['setup', 'node', '--user', '--yes', 'weft-join:abc'];
    const { code, error } = await capture(
      home,
      { program: 'weft', argv, environment: { HOME: home } },
      runWeft,
    );
    assert.equal(code, 2, error);
    assert.match(
      error,
      /a join token in the command would be seen by all users of this machine\n.*< FILE/,
    );
  } finally {
    rmSync(home, { recursive: true });
  }
});
