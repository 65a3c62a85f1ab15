// How users of a machine find their head when nothing but a file says it.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { parseClientFile, writeClientFile } from '../../../../src/kernel/connect/client-file.ts';
import { locateHead } from '../../../../src/kernel/connect/locate.ts';

const root = mkdtempSync(join(tmpdir(), 'weft-client-'));
after(() => rmSync(root, { recursive: true }));
const machine = join(root, 'etc', 'client.yaml');
const environment = { HOME: join(root, 'home'), WEFT_CLIENT_FILE: machine };
const own = join(root, 'home', '.config', 'weft', 'client.yaml');
const pin = 'a'.repeat(64);

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

test('[N22] the machine’s file names the head; the user’s own, and variables, come before it', (t) => {
  t.after(() => {
    rmSync(own, { force: true });
    rmSync(machine);
  });
  write(machine, `# of the machine\nhead: https://10.0.0.7:5001\nfingerprint: "${pin}"\n`);
  const found = locateHead({}, environment);
  assert.ok(found.kind === 'url');
  assert.deepEqual([found.url.host, found.fingerprint, found.token], ['10.0.0.7:5001', pin, null]);
  write(own, 'head: other.example\ntoken_file: ~/.token\n');
  write(join(root, 'home', '.token'), 'wt_1\n');
  const other = locateHead({}, environment);
  assert.ok(other.kind === 'url');
  assert.deepEqual([other.url.host, other.token], ['other.example:5001', 'wt_1']);
  const unset = { WEFT_HEAD: '', WEFT_TOKEN: '', WEFT_TOKEN_FILE: '', WEFT_FINGERPRINT: '' };
  assert.deepEqual(locateHead({}, { ...environment, ...unset }), other, 'set to nothing');
  const named = locateHead({}, { ...environment, WEFT_HEAD: 'https://third.example:1' });
  assert.ok(named.kind === 'url');
  assert.deepEqual(
    [named.url.host, named.fingerprint, named.token],
    ['third.example:1', null, null],
  );
  const directory = join(root, 'state');
  const chosen = locateHead({}, { ...environment, WEFT_DIR: directory });
  assert.deepEqual(chosen, { kind: 'socket', path: join(directory, 'weft.sock') });
});

test('a token file that cannot be reached is named, one that is not there is no mistake', (t) => {
  const file = join(root, 'token');
  t.after(() => rmSync(machine));
  write(machine, `head: https://10.0.0.7:5001\ntoken_file: "${file}"\n`);
  const found = locateHead({}, environment);
  assert.ok(found.kind === 'url');
  assert.equal(found.token, null);
  // A loop stops root, too, whom no permission does.
  symlinkSync(file, file);
  assert.throws(() => locateHead({}, environment), /token_file: cannot read .*\/token/);
});

test('a cluster of the user’s own comes before the files', (t) => {
  const state = join(root, 'home', '.local', 'state', 'weft');
  write(join(state, 'weft.sock'), '');
  write(machine, 'socket: /run/elsewhere.sock\n');
  t.after(() => rmSync(machine));
  assert.deepEqual(locateHead({}, environment), {
    kind: 'socket',
    path: join(state, 'weft.sock'),
  });
  rmSync(state, { recursive: true });
  assert.deepEqual(locateHead({}, environment), { kind: 'socket', path: '/run/elsewhere.sock' });
});

for (const [text, says] of [
  ['head https://x', /c\.yaml, line 1: 'head https:\/\/x' says nothing/],
  ['\nsecret: x', /line 2: 'secret: x' .*write one of head, fingerprint, socket, token_file/],
  ['# nothing', /c\.yaml names no head; write a line head:/],
] as const) {
  test(`a file that says '${text.trim()}' is refused with its line`, () => {
    assert.throws(() => parseClientFile(text, 'c.yaml'), { message: says });
  });
}

test('a line may end with a comment, behind a value in quotes or a plain one', () => {
  const text = `head: "https://h:5001#1"  # the lab's\nfingerprint: ${pin} # of weft info\n`;
  const said = { head: 'https://h:5001#1', fingerprint: pin };
  assert.deepEqual(parseClientFile(text, 'c.yaml'), said);
  assert.throws(() => parseClientFile('head: # none', 'c.yaml'), { message: /says nothing/ });
});

test('what is written is for all to read, stays with who wrote it, and is for services only', () => {
  const said = { head: 'https://h:5001', fingerprint: pin };
  assert.equal(writeClientFile(said, { directory: root, environment }), null);
  assert.equal(existsSync(machine), false);
  const service = { directory: '/var/lib/weft/node', environment };
  if (process.getuid?.() !== 0) return assert.equal(writeClientFile(said, service), null);
  assert.equal(writeClientFile(said, service), machine);
  assert.equal(statSync(machine).mode & 0o777, 0o644);
  assert.ok(locateHead({}, environment).kind === 'url');
  assert.equal(writeClientFile({ socket: '/s' }, service), machine);
  assert.deepEqual(locateHead({}, environment), { kind: 'socket', path: '/s' });
  writeFileSync(machine, 'socket: /by-hand\n');
  chmodSync(machine, 0o644);
  assert.equal(writeClientFile(said, service), null);
  assert.deepEqual(locateHead({}, environment), { kind: 'socket', path: '/by-hand' });
});
