// A command of a site comes to it as it is, whatever is before it.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemCommands } from '../../../../../../src/kernel/os/commands.ts';
import { runSiteCommand } from '../../../../../../src/wings/sites/fabric/site/command.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-site-command-'));
after(() => rmSync(top, { recursive: true }));

// Like the real one it gives a shell its words with blanks between them, and none of its variables.
const ssh = join(top, 'ssh');
writeFileSync(ssh, '#!/bin/sh\nshift\nexec env -i PATH="$PATH" HOME=/ sh -c "cd /; $*"\n');
chmodSync(ssh, 0o755);

const WORDS = ['*', "state NOT IN ('Error') OR a > 1", '$HOME', ''];
const SHOW = 'printf "%s|" "$TZ" "$LC_ALL" "$@"; cat';

for (const before of [[], ['env'], [ssh, 'login1'], ['env', ssh, 'login1']]) {
  test(`behind '${before.map((word) => word.replace(top, '')).join(' ')}'`, async () => {
    const command = { argv: ['sh', '-c', SHOW, '-', ...WORDS], input: 'a script' };
    const how = { before, timeoutMs: 10_000, user: null };
    const { stdout, code, stderr } = await runSiteCommand(systemCommands, command, how);
    assert.deepEqual([stdout, code, stderr], [`UTC|C|${WORDS.join('|')}|a script`, 0, '']);
  });
}

test('a command that cannot be started, or is too slow, says so', async () => {
  const how = { before: [], timeoutMs: 200, user: null };
  const ended = async (...argv: string[]) => {
    const { code, stderr } = await runSiteCommand(systemCommands, { argv }, how);
    return `${code} ${stderr}`;
  };
  assert.match(await ended('/nosuch/site', 'jobs'), /^null spawn \/nosuch\/site ENOENT$/);
  assert.match(await ended('sleep', '60'), /^null it took longer than 200ms$/);
  const locked = join(top, 'locked');
  writeFileSync(locked, '#!/bin/sh\n');
  assert.match(await ended(locked), /^null spawn \S+locked EACCES$/);
  const foreign = join(top, 'foreign');
  writeFileSync(foreign, '\u007fELF of another machine');
  chmodSync(foreign, 0o755);
  assert.match(await ended(foreign), /^(null|126|127) .*foreign/s);
});

test('a wrong program behind ssh is an error of its name, and not of the way', async () => {
  const how = { before: [ssh, 'login1'], timeoutMs: 10_000, user: null };
  const { code, stderr } = await runSiteCommand(systemCommands, { argv: ['nosuch-sq'] }, how);
  assert.equal(code, 127);
  assert.match(stderr, /nosuch-sq/);
});
