// Files and folders named for a job: what goes under which name, and all that is wrong said at
// once.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { inputsOf, stagingRequest } from '../../../../../src/kernel/cli/submit/staged-files.ts';
import { parseInput } from '../../../../../src/kernel/transfer/inputs/input-request.ts';
import { gather } from '../../../../../src/kernel/transfer/inputs/inputs.ts';
import { lookAt } from '../../../../../src/kernel/transfer/look.ts';

/** A folder with these files; names that end in `/` are folders. */
function folder(t: TestContext, ...names: readonly string[]): string {
  const made = mkdtempSync(path.join(tmpdir(), 'weft-gather-'));
  t.after(() => rmSync(made, { recursive: true }));
  for (const name of names) {
    const full = path.join(made, name);
    mkdirSync(name.endsWith('/') ? full : path.dirname(full), { recursive: true });
    if (!name.endsWith('/')) writeFileSync(full, name);
  }
  return made;
}

function wish(text: string) {
  const read = parseInput(text);
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

function here(cwd: string) {
  return { cwd, program: null, before: '--in: ' };
}

function gathered(cwd: string, ...inputs: readonly string[]): string[] {
  return gather(inputs.map(wish), here(cwd)).entries.map(({ path: at, kind }) => `${at} ${kind}`);
}

function problems(cwd: string, ...inputs: readonly string[]): string[] {
  try {
    gather(inputs.map(wish), here(cwd));
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.replace(/^--in: /, ''));
  }
  return [];
}

test('files and folders go under their own names, another one, into a folder, or to the top', (t) => {
  const cwd = folder(t, 'a.csv', 'mesh/m1', 'mesh/sub/m2', 'mesh/empty/', 'x/y/big.bin');
  assert.deepEqual(gathered(cwd, 'a.csv', 'x/y/big.bin', './a.csv=b.csv', 'a.csv=in/'), [
    'a.csv file',
    'big.bin file',
    'b.csv file',
    'in/a.csv file',
  ]);
  const mesh = ['m1 file', 'sub folder', 'sub/m2 file'];
  const top = ['empty folder', ...mesh];
  const under = (name: string) => [`${name} folder`, ...top.map((entry) => `${name}/${entry}`)];
  assert.deepEqual(gathered(cwd, 'mesh'), under('mesh'));
  assert.deepEqual(gathered(cwd, 'mesh/=g'), under('g'));
  assert.deepEqual(gathered(cwd, `${cwd}/mesh=deep/down/`), under('deep/down/mesh'));
  assert.deepEqual(gathered(cwd, 'mesh=.'), top);
  assert.deepEqual(gathered(path.join(cwd, 'mesh'), '.'), top);
});

test('modes and links are kept, and a link that is named itself is what it leads to', (t) => {
  const cwd = folder(t, 'd/run', 'd/data');
  chmodSync(path.join(cwd, 'd/run'), 0o4750);
  symlinkSync('run', path.join(cwd, 'd/link'));
  symlinkSync('d/run', path.join(cwd, 'named'));
  const { entries, sources } = gather([wish('d'), wish('named')], here(cwd));
  const found = entries.filter(({ path: at }) => /run|link|named/.test(at));
  assert.deepEqual(found, [
    { path: 'd/link', kind: 'link', size: 0, mode: 0o777, target: 'run' },
    { path: 'd/run', kind: 'file', size: 5, mode: 0o750 },
    { path: 'named', kind: 'file', size: 5, mode: 0o750 },
  ]);
  assert.equal(sources.get('d/run'), path.join(cwd, 'd/run'));
});

test('folders of one name become one, and the same file may be named twice', (t) => {
  const cwd = folder(t, 'a/one', 'b/two');
  assert.deepEqual(gathered(cwd, 'a=in', 'b=in', 'a/one=in/one'), [
    'in folder',
    'in/one file',
    'in/two file',
  ]);
});

test('a name with = in it is taken as it is where nothing has the name before it', (t) => {
  const cwd = folder(t, 're=100.json', 'a', 'a=b');
  assert.deepEqual(gathered(cwd, 're=100.json', 're=100.json=in.json'), [
    're=100.json file',
    'in.json file',
  ]);
  assert.deepEqual(gathered(cwd, 'a=b'), ['b file'], 'the last = counts');
});

test('everything that cannot go is said at once', async (t) => {
  const cwd = folder(t, 'a.csv', 'd/x', 'e/x', 'bad/ok', 'file/below');
  execFileSync('mkfifo', [path.join(cwd, 'bad/pipe'), path.join(cwd, 'fifo')]);
  symlinkSync('../../outside', path.join(cwd, 'bad/out'));
  symlinkSync('nowhere', path.join(cwd, 'broken'));
  writeFileSync(Buffer.concat([Buffer.from(`${cwd}/bad/caf`), Buffer.from([0xe9])]), '');
  const socket = createServer().listen(path.join(cwd, 'socket'));
  t.after(() => socket.close());
  await new Promise((resolve) => socket.once('listening', resolve));
  const inputs = ['missing', 'a.csb', 'fifo', 'socket', 'broken', '/dev/null', 'bad'];
  assert.deepEqual(problems(cwd, ...inputs, 'd=z', 'e=z', 'a.csv=.', 'a.csv=z'), [
    "'missing' does not exist.",
    "'a.csb' does not exist. Did you mean 'a.csv'?",
    "'fifo' is a device, pipe or socket; expected a file",
    "'socket' is a device, pipe or socket; expected a file",
    "'broken' is a link to something that does not exist",
    "'/dev/null' is a device, pipe or socket; expected a file",
    "'bad/caf�' has a name that is not valid UTF-8; rename it",
    "'bad/out' is a link that leaves the folder, to '../../outside'",
    "'bad/pipe' is a device, pipe or socket",
    "'z/x' comes from both d=z and e=z",
    "'a.csv=.': 'a.csv' is a file; only a folder can be at .",
    "'z' comes from both d=z and a.csv=z",
  ]);
});

test('a file where another input needs a folder is refused, in either order', (t) => {
  const cwd = folder(t, 'a', 'b');
  assert.deepEqual(problems(cwd, 'a=x', 'b=x/y'), [
    "'x/y' would lie in 'x', which is a file (a=x)",
  ]);
  assert.deepEqual(problems(cwd, 'b=x/y', 'a=x'), ["'x' is a file and a folder, too"]);
});

test('names that lead elsewhere, or are none, are refused before anything is looked at', () => {
  const wrong = (text: string) => {
    const read = parseInput(text);
    return read.ok ? 'fine' : read.error;
  };
  assert.match(wrong('a=../b'), /'a=\.\.\/b': .* has a part '\.\.'/);
  assert.match(wrong('a=/etc/x'), /is not relative/);
  assert.match(wrong('a=x//y'), /has a part ''/);
  assert.match(wrong('a='), /has no name after its =/);
  assert.match(wrong('..'), /has no name of its own; write \.\.=NAME/);
  assert.match(wrong('/'), /has no name of its own/);
  assert.match(wrong('=x'), /names no file/);
  assert.match(wrong(`a=${'n'.repeat(256)}`), /too long/);
  assert.ok(wrong(`a=${'n'.repeat(4096)}`).length < 500, 'it can be read');
  assert.match(wrong('a\0b'), /NUL/);
});

test('more files than a job can have are refused, of one folder and of all together', (t) => {
  const names = Array.from({ length: 99 }, (_, at) => `many/${at}`);
  const cwd = folder(t, ...names);
  const uses = [{ path: 'many', at: [], must: 'file or folder' as const }];
  const [problem] = lookAt(uses, cwd, 98).problems;
  assert.equal(problem?.what, "'many' has more than 98 files and folders in it");
  assert.equal(lookAt(uses, cwd, 99).problems.length, 0);
  const often = Array.from({ length: 1001 }, (_, at) => `many=d${at}`);
  assert.equal(gathered(cwd, ...often.slice(1)).length, 100_000);
  assert.match(problems(cwd, ...often)[0] ?? '', /more than 100000 files .*pack them with tar/);
});

test('patterns of what is kept are read, and none stands alone', () => {
  const refused = (...out: string[]) => {
    try {
      return stagingRequest({ out });
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.deepEqual(refused('a/**', '!*.tmp'), { outputs: ['a/**', '!*.tmp'] });
  assert.deepEqual(refused('none'), { outputs: [] });
  assert.match(String(refused('none', 'a')), /'none' keeps nothing, and other patterns/);
  assert.match(String(refused('../x')), /--out: the pattern '\.\.\/x' has '\.' or '\.\.'/);
  assert.match(String(refused('/etc/**')), /--out: the pattern '\/etc\/\*\*' begins with '\/'/);
  assert.match(String(refused('**', '!*')), /--out: the pattern '!\*' takes everything away/);
  assert.equal(stagingRequest({}), undefined);
});

test('a program that is named by where it is here goes, too, unless something has its place', (t) => {
  const cwd = folder(t, 'solver', 'other', 'text', 'bin/tool');
  for (const name of ['solver', 'other', 'bin/tool']) chmodSync(path.join(cwd, name), 0o755);
  const sent = (argv: readonly string[], ...inputs: string[]) => {
    const wishes = inputsOf({ in: inputs }, { kind: 'argv', argv });
    if (wishes === null) return null;
    const found = gather(wishes.wishes, { ...here(cwd), program: wishes.program });
    return [...found.sources].map(([at, full]) => `${at} ${path.relative(cwd, full)}`);
  };
  assert.deepEqual(sent(['./solver', '-v'], 'text'), ['text text', 'solver solver']);
  assert.deepEqual(sent(['bin/tool'], 'text'), ['text text', 'bin/tool bin/tool']);
  assert.deepEqual(sent(['./solver'], 'other=solver'), ['solver other']);
  for (const name of ['./text', './missing', 'solver', '/bin/sh', '../solver']) {
    assert.deepEqual(sent([name], 'other'), ['other other'], name);
  }
});
