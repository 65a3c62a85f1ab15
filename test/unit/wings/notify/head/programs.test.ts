// Commands of the site and mail: real programs, what they are given, and what becomes of bad ones.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Attempt, News } from '../../../../../src/kernel/model/notification.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { fileIn, message, notifiers, target } from './fixture.ts';

const why = (attempt: Attempt): string => (attempt.kind === 'failed' ? attempt.why : 'told');

/** A name that would do harm as an option, a header, a line or a word of a shell. */
const NASTY = '-oX $(id)\r\nBcc: eve@lab\u202e é';

function command(t: TestContext, script: string, timeoutMs = 5000) {
  const folder = makeFolder(t, {});
  const program = fileIn(folder, 'tell', `#!/bin/sh\n${script}\n`, 0o755);
  const made = notifiers({ commands: { tell: [program, 'word', folder] }, timeoutMs });
  return {
    tell: (news: Partial<News> = {}) => made.tell(target('command:tell'), message(news)),
    read: (name: string) => readFileSync(path.join(folder, name), 'utf8'),
  };
}

test('[T4] a command gets the event on its input, the words as variables, its own arguments only', async (t) => {
  const script =
    'cat > "$2/in"; printf "%s|" "$#" "$1" "$WEFT_NOTIFY_OUTCOME" "$WEFT_NOTIFY_OWNER" > "$2/said"';
  const { tell, read } = command(t, script);
  assert.equal(why(await tell({ name: NASTY })), 'told');
  assert.equal(read('said'), '2|word|failed|ann|');
  const event = JSON.parse(read('in'));
  assert.deepEqual([event.name, event.job], [NASTY, 42]);
  assert.equal(event.title, 'Job 42 (-oX $(id)Bcc: eve@lab é) failed: exit code 3');
});

test('[T2] a command that fails, hangs or says too much is told in a line', async (t) => {
  assert.equal(
    why(await command(t, 'echo no room; echo more; exit 3').tell()),
    'exit code 3: no room',
  );
  assert.equal(why(await command(t, 'exit 1').tell()), 'exit code 1');
  assert.match(why(await command(t, 'sleep 1000', 300).tell()), /it took longer than 300ms/);
  const loud = why(await command(t, 'yes x | head -c 10000000 | tr -d "\\n"; exit 1').tell());
  assert.ok(loud.length <= 200, loud);
});

test('a command that reads nothing has still succeeded', async (t) => {
  assert.equal(
    why(await command(t, 'exec <&-; exit 0').tell({ detail: 'x'.repeat(200_000) })),
    'told',
  );
});

test('a name that is not configured any more runs nothing', async () => {
  const { tell } = notifiers({ commands: { other: ['/bin/true'] } });
  assert.equal(
    why(await tell(target('command:constructor'), message())),
    'the command constructor is not configured any more',
  );
  assert.equal(
    why(await notifiers({}).tell(target('mail:a@b'), message())),
    'mail is not configured any more',
  );
});

function mailer(t: TestContext) {
  const folder = makeFolder(t, {});
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > ${folder}/words\ncat > ${folder}/letter\n`;
  const program = fileIn(folder, 'sendmail', script, 0o755);
  const { tell } = notifiers({ mail: { program, from: 'weft@lab.example' } });
  return {
    tell: (news: Partial<News> = {}) => tell(target('mail:ann@lab.example'), message(news)),
    read: (name: string) => readFileSync(path.join(folder, name), 'utf8'),
  };
}

test('[T4] a mail has one address, and no header that a user has written', async (t) => {
  const { tell, read } = mailer(t);
  assert.equal(why(await tell({ name: NASTY })), 'told');
  assert.deepEqual(read('words').trim().split('\n'), [
    '-i',
    '-f',
    'weft@lab.example',
    '--',
    'ann@lab.example',
  ]);
  const [head = '', body = ''] = read('letter').split('\n\n');
  const names = head
    .replace(/\n[ \t].*/g, '')
    .split('\n')
    .map((line) => line.split(':')[0]);
  assert.deepEqual(names, [
    ...['From', 'To', 'Subject', 'Date', 'Message-ID', 'Auto-Submitted', 'MIME-Version'],
    ...['Content-Type', 'Content-Transfer-Encoding'],
  ]);
  assert.match(head, /^[ -~\n]*$/, 'plain ASCII');
  const words = [...head.matchAll(/=\?utf-8\?B\?([^?]*)\?=/g)].map(([, word = '']) => word);
  const subject = words.map((word) => Buffer.from(word, 'base64').toString()).join('');
  assert.equal(subject, 'Job 42 (-oX $(id)Bcc: eve@lab é) failed: exit code 3');
  assert.match(Buffer.from(body, 'base64').toString(), /^Job 42 .*\nCluster lab, user ann; .*\n/);
});

test('a plain title is a plain subject, and one message has one id', async (t) => {
  const { tell, read } = mailer(t);
  await tell();
  assert.match(read('letter'), /^Subject: Job 42 \(train\) failed: exit code 3$/m);
  assert.match(
    read('letter'),
    /^Message-ID: <weft-job-42-1700000000000-1700000160000@lab\.example>$/m,
  );
});
