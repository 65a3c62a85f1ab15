// The owner's file: what may stand there, what is wrong with it in words, and what is not believed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  parseOwnerRules,
  readOwnerFile,
} from '../../../../../src/wings/owner/config/owner-file.ts';
import { makeFolder } from '../../../../support/folder.ts';

const EVERYTHING = `# my machine
users: [ann, "ben"]   # the two of us
cpus: 2
gpus: 1
hours: Mon-Fri 08:00-18:00
idle_below: 5m
sessions: true
load_above: 0.5
`;

test('[O10] the file says of whom jobs are taken, what stays the owner’s, and when it yields', () => {
  assert.deepEqual(parseOwnerRules(EVERYTHING, 'owner.yaml'), {
    ok: true,
    value: {
      users: ['ann', 'ben'],
      cpuCount: 2,
      gpuCount: 1,
      yield: {
        hours: 'Mon-Fri 08:00-18:00',
        idleBelowMs: 300_000,
        sessions: true,
        loadAbove: 0.5,
      },
    },
  });
  const none = { users: null, cpuCount: 0, gpuCount: 0, yield: {} };
  assert.deepEqual(parseOwnerRules('\r\n# nothing yet\r\n', 'o'), { ok: true, value: none });
});

const WRONG: readonly (readonly [text: string, says: RegExp])[] = [
  ['user: ann', /^o:1: 'user: ann' is no rule\. Did you mean 'users'\?/],
  ['users:\n- ann', /^o:1: users: name somebody, or leave the line out/],
  ['users: ann, b;n', /^o:1: users: 'b;n' is not a login name/],
  [`users: ${Array.from({ length: 65 }, (_, at) => `u${at}`)}`, /^o:1: users: at most 64/],
  ['\ncpus: -1', /^o:2: cpus: '-1' is not a whole number/],
  ['gpus: 1001', /^o:1: gpus: .*too large/],
  ['hours: sometimes', /^o:1: hours: /],
  ['idle_below: 1s', /^o:1: idle_below: .*too small/],
  ['sessions: yes', /^o:1: sessions: 'yes' is not true or false/],
  ['cpus: 1\ncpus: 2', /^o:2: cpus is there twice/],
  ['{"cpus": 1}', /^o:1: .* is no rule/],
];
test('[O11] a message shows a line as plain text, and no more than its beginning', () => {
  const read = parseOwnerRules(`\u001b]0;owned\u0007${'x'.repeat(9000)}`, 'o');
  assert.ok(!read.ok && !read.error.includes('\u001b') && read.error.length < 250, 'plain');
});

test('[O10] comments, quotes, a mark of bytes and the beginning of a document are as in YAML', () => {
  const text = "\uFEFF---\nusers: ['ann', ben] # and nobody else\n  # a note\ncpus: 1 #one\n";
  const read = parseOwnerRules(text, 'o');
  assert.deepEqual(read.ok && [read.value.users, read.value.cpuCount], [['ann', 'ben'], 1]);
});

for (const [text, says] of WRONG) {
  test(`[O11] a line that is no rule is named: ${JSON.stringify(text.slice(0, 30))}`, () => {
    const read = parseOwnerRules(text, 'o');
    assert.match(read.ok ? 'nothing wrong' : read.error, says);
  });
}

test('[O11] a file that is no file of an owner is not followed, and says why', (t) => {
  const folder = makeFolder(t, {});
  const file = join(folder, 'owner.yaml');
  assert.deepEqual(readOwnerFile(file), { rules: null, problem: null });
  writeFileSync(file, 'users: ann\n', { mode: 0o644 });
  assert.deepEqual(readOwnerFile(file).rules?.users, ['ann']);
  chmodSync(file, 0o666);
  assert.match(readOwnerFile(file).problem ?? '', /may be written by everybody: chmod o-w$/);
  const other = (name: string): string => readOwnerFile(join(folder, name)).problem ?? 'none';
  symlinkSync(file, join(folder, 'link'));
  assert.match(other('link'), /is a link/);
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  assert.match(other('pipe'), /is no file/);
  mkdirSync(join(folder, 'folder'));
  assert.match(other('folder'), /is no file/);
  writeFileSync(join(folder, 'large'), '#'.repeat(65_537));
  assert.match(other('large'), /too large/);
});
