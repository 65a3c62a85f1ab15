// What people type that no command can work with: words that say what is wrong, and no bug report.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { encodeTicket } from '../../../../src/kernel/cli/join-string.ts';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { capture } from './fake-head.ts';

const TICKET = encodeTicket({
  addresses: ['127.0.0.1:1'],
  fingerprint: '0'.repeat(64),
  token: 'weft',
});

const REFUSED: readonly (readonly [argv: readonly string[], words: RegExp])[] = [
  [['run', '--key', 'a\nb', 'true'], /^weft: --key: 'a\nb' is not a key; use 1 to 200 printable/],
  [['run', '--key', '', 'true'], /^weft: --key: '' is not a key/],
  [['run', '--name', '', 'true'], /^weft: --name: may not be empty\n/],
  [['run', '--chdir', '', 'true'], /^weft: --chdir: may not be empty\n/],
  [['backup', '--to', ''], /^weft: --to: the name of the folder is empty\n/],
  [['run', '--output', '', 'true'], /^weft: --output: may not be empty\n/],
  [['submit', ''], /^weft: no script is named\n/],
  [['job', ' 3'], /^weft: ' 3' is not a job id; write 42 or 42\[7\]\n/],
  [['job', 'a\u001b[2Jb'], /^weft: 'a\?\[2Jb' is not a job id/],
  [['a\u001b[2Jb'], /^weft: unknown command 'a\?\[2Jb'\. /],
  [['node', 'drain', 'n1', '--reason', ''], /^weft: --reason: may not be empty\n/],
  [['node', 'label', 'n1', ''], /^weft: there is no label to add or remove\n/],
  [['token', 'create', '--expires', '1000000d'], /'1000000d' is longer than 100 years; or write n/],
  [['up', '--dir', '/dev/null'], /directory \/dev\/null: a file has that name\n {2}Name an/],
  [
    ['up', '--dir', '/dev/null/x'],
    /cannot make the directory \/dev\/null\/x: a part of its path is not a directory/,
  ],
  [
    ['up', '--dir', `/tmp/${'long'.repeat(30)}`],
    /^weft: \/tmp\/long\S+ is 41 bytes too long: the launcher of an agent there would have no address\n {2}Choose/,
  ],
  // Before the head, which is not there, hears of it.
  [
    ['join', TICKET, '--name', 'n1', '--dir', `/tmp/${'long'.repeat(30)}`],
    /^weft: \/tmp\/long\S+ is 41 bytes too long: the launcher of an agent there would have no address\n {2}Choose/,
  ],
  [['up', '--dir', '/proc/x'], /cannot make the directory \/proc\/x: nothing can be made there\n/],
];

for (const [argv, words] of REFUSED) {
  test(`weft ${argv.join(' ').replace(/[^ -~]/g, '?')} is refused in words`, async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
    writeFileSync(path.join(directory, 'weft.yaml'), '{}');
    const said = await capture(directory, { program: 'weft', argv }, runWeft);
    rmSync(directory, { recursive: true });
    assert.deepEqual([said.code, said.out], [2, '']);
    assert.match(said.error, words);
  });
}

test('weft help and weft help COMMAND show what --help shows', async () => {
  for (const [words, same] of [
    [['help'], ['--help']],
    [
      ['help', 'run'],
      ['run', '--help'],
    ],
  ] as const) {
    const [asked, usual] = await Promise.all(
      [words, same].map((argv) => capture(tmpdir(), { program: 'weft', argv }, runWeft)),
    );
    assert.match(asked?.out ?? '', /^Usage: weft/);
    assert.deepEqual(asked, usual);
  }
});
