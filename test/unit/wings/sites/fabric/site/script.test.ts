// The script that a site runs, run here by a real shell, and its receipts.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  PROGRAM,
  programFiles,
} from '../../../../../../src/wings/sites/fabric/site/program-file.ts';
import {
  parseEndReceipt,
  parseStartReceipt,
  siteScript,
} from '../../../../../../src/wings/sites/fabric/site/script.ts';
import { inputFolders } from '../../../../../../src/wings/sites/os/input-folders.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-site-script-'));
after(() => rmSync(top, { recursive: true }));

let count = 0;

function launchOf(...argv: string[]) {
  count += 1;
  const folder = join(top, `a folder's ${count}`);
  mkdirSync(folder);
  return {
    folder,
    argv,
    environment: ['PATH=/usr/bin:/bin', "ODD=it's $HOME"],
    cwd: folder,
    umask: 0o027,
    stdin: '',
    isFed: false,
    stdout: join(folder, 'o'),
    stderr: join(folder, 'e'),
    append: false,
  };
}

type Launch = ReturnType<typeof launchOf>;

const SHELLS = ['sh', ...(existsSync('/bin/bash') ? ['bash'] : [])];

function run(launch: Launch, shell = 'sh', env: NodeJS.ProcessEnv = process.env): number | null {
  prepare(launch);
  return spawnSync(shell, { input: siteScript(launch), env }).status;
}

/** The gateway's part. */
function prepare(launch: Launch): void {
  for (const [name, text] of Object.entries(programFiles(launch))) {
    if (existsSync(launch.folder)) writeFileSync(join(launch.folder, name), text, { mode: 0o600 });
  }
}

function receipts({ folder }: Launch) {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { started: parseStartReceipt(read('started')), ended: parseEndReceipt(read('ended')) };
}

test('the program runs with its own words, environment and folder, and both receipts are there', () => {
  const launch = launchOf(
    'sh',
    '-c',
    'echo "$ODD|$1|$PWD|$HOME|$(umask)"; echo no >&2; exit 3',
    '-',
    "a 'b'",
  );
  assert.equal(run(launch), 3);
  assert.equal(readFileSync(launch.stdout, 'utf8'), `it's $HOME|a 'b'|${launch.folder}||0027\n`);
  assert.equal(readFileSync(launch.stderr, 'utf8'), 'no\n');
  const { started, ended } = receipts(launch);
  assert.ok(started !== null && started.host !== '');
  assert.deepEqual(ended?.exit, { code: 3 });
});

/** A launch of `argv` that is fed, its shell and the file that feeds it. */
async function startFed(shell: string, ...argv: string[]) {
  const launch = launchOf(...argv);
  const temporary = join(launch.folder, 'tmp');
  mkdirSync(temporary);
  Object.assign(launch, { stdin: join(launch.folder, "client's"), isFed: true });
  const feed = await inputFolders.make(launch.stdin, null);
  prepare(launch);
  const env = { ...process.env, TMPDIR: temporary };
  const child = spawn(shell, { stdio: ['pipe', 'ignore', 'ignore'], detached: true, env });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end(siteScript(launch));
  return { launch, feed, child, ended, temporary };
}

async function until(isMet: () => boolean): Promise<void> {
  while (!isMet()) await new Promise((go) => setTimeout(go, 10));
}

test('[G25] input that a client sends comes to the program as it is written, to its end', async () => {
  for (const shell of SHELLS) {
    const { launch, feed, ended, temporary } = await startFed(shell, 'cat');
    const has = () => (existsSync(launch.stdout) ? readFileSync(launch.stdout, 'utf8') : '');
    await feed.write(Buffer.from('first\n'));
    await until(() => has() === 'first\n');
    const rest = randomBytes(3_000_001);
    await feed.write(rest);
    await feed.end();
    assert.equal(await ended, 0);
    assert.ok(readFileSync(launch.stdout).equals(Buffer.concat([Buffer.from('first\n'), rest])));
    assert.deepEqual(readdirSync(temporary), [], 'nothing of it stays on the node');
    assert.ok(existsSync(launch.stdin), 'its gateway takes it away when the job is over');
  }
});

test('[G25] a program that ends before its input does is over', async () => {
  const { launch, ended, feed } = await startFed('sh', 'sh', '-c', 'read -r x; echo "$x"; exit 3');
  await feed.write(Buffer.from('one\ntwo\n'));
  assert.equal(await ended, 3);
  assert.equal(readFileSync(launch.stdout, 'utf8'), 'one\n');
  assert.deepEqual(receipts(launch).ended?.exit, { code: 3 });
});

test('[G25] a signal for all of a job does not end the input of its program', async () => {
  for (const shell of SHELLS) {
    const line = 'trap "" 10; echo up >up; cat; echo end';
    const { launch, feed, child, ended } = await startFed(shell, 'sh', '-c', line);
    await until(() => existsSync(join(launch.folder, 'up')));
    process.kill(-(child.pid ?? 0), 10);
    await feed.write(Buffer.from('late\n'));
    await feed.end();
    assert.equal(await ended, 0);
    assert.equal(readFileSync(launch.stdout, 'utf8'), 'late\nend\n', shell);
  }
});

test('[G25] where no pipe can be made the program is not started', () => {
  const launch = launchOf('touch', 'ran');
  Object.assign(launch, { stdin: join(launch.folder, 'in'), isFed: true });
  const env = { ...process.env, TMPDIR: '/nowhere' };
  assert.equal(run(launch, 'sh', env), 125);
  assert.match(readFileSync(launch.stderr, 'utf8'), /no pipe .* can be made in \/nowhere/);
  assert.ok(!existsSync(join(launch.folder, 'ran')));
});

test('a program with = in its path is started, not taken for a variable', () => {
  const launch = launchOf('./re=100/run', 'two words');
  mkdirSync(join(launch.folder, 're=100'));
  const text = '#!/bin/sh\necho "$ODD|$1|$#"; exit 9\n';
  writeFileSync(join(launch.folder, 're=100', 'run'), text, { mode: 0o755 });
  assert.equal(run(launch), 9);
  assert.equal(readFileSync(launch.stdout, 'utf8'), "it's $HOME|two words|1\n");
});

test('[G13] no word of a command has a variable of the program', async () => {
  const launch = launchOf('sh', '-c', 'touch up; until [ -e go ]; do sleep 0.05; done');
  launch.environment.push('PASSWORD=hunter-2');
  // Each program that is started leaves its words: those that live for a moment only, too.
  const tools = join(launch.folder, 'tools');
  mkdirSync(tools);
  for (const name of ['env', 'sh', 'mkdir', 'date', 'uname', 'mv', 'tail', 'perl']) {
    const text = `#!/bin/sh\nprintf '%s\\n' "${name} $*" >>'${top}/words'\nexec /usr/bin/${name} "$@"\n`;
    writeFileSync(join(tools, name), text, { mode: 0o755 });
  }
  prepare(launch);
  const env = { ...process.env, PATH: `${tools}:/usr/bin:/bin` };
  const child = spawn('/bin/sh', { stdio: ['pipe', 'ignore', 'ignore'], env });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.stdin.end(siteScript(launch));
  while (!existsSync(join(launch.folder, 'up'))) await new Promise((go) => setTimeout(go, 10));
  const all = spawnSync('ps', ['-eww', '-o', 'args'], { encoding: 'utf8' }).stdout;
  writeFileSync(join(launch.folder, 'go'), '');
  await ended;
  const words = readFileSync(join(top, 'words'), 'utf8');
  assert.match(words, /^env -i /m);
  assert.doesNotMatch(words + all, /hunter-2/);
  assert.equal(statSync(join(launch.folder, PROGRAM)).mode & 0o077, 0);
});

test('[G13] variables that no shell can set come to the program all the same', () => {
  for (const shell of SHELLS) {
    const launch = launchOf('env', '-0');
    launch.environment.push('BASH_FUNC_module%%=() {  echo "a\nb"\n}', 'UID=7', 'A.B=c=d', 'E=');
    assert.equal(run(launch, shell), 0, readFileSync(launch.stderr, 'utf8'));
    const seen = readFileSync(launch.stdout, 'utf8').split('\0').filter(Boolean).sort();
    assert.deepEqual(seen, launch.environment.toSorted());
  }
});

test('a program hears the signals that a background of a shell is deaf to', () => {
  const launch = launchOf('sh', '-c', 'trap "exit 9" INT; kill -INT $$; exit 1');
  assert.equal(run(launch), 9);
});

test('[G12] receipts are written in one language, and the program has its own', () => {
  const launch = launchOf('sh', '-c', 'echo "$LC_ALL|$LANG"');
  launch.environment.push('LANG=de_DE.UTF-8');
  for (const shell of SHELLS) {
    rmSync(join(launch.folder, 'claim'), { recursive: true, force: true });
    const env = { ...process.env, LC_ALL: 'de_DE.UTF-8', LC_NUMERIC: 'de_DE.UTF-8' };
    assert.equal(run(launch, shell, env), 0);
    assert.equal(readFileSync(launch.stdout, 'utf8'), '|de_DE.UTF-8\n');
    assert.match(readFileSync(join(launch.folder, 'ended'), 'utf8'), / 0m\d+\.\d+s 0m\d+\.\d+s\n$/);
  }
  assert.match(siteScript(launch), /^LC_ALL=C; export LC_ALL$/m);
});

test('[G12] a receipt with a comma is read as well', () => {
  assert.deepEqual(parseEndReceipt('10 3 1m2,5s 0m0,250s\n'), {
    at: 10_000,
    exit: { code: 3 },
    userUs: 62_500_000,
    systemUs: 250_000,
  });
});

test('a second start of one launch does nothing', () => {
  const launch = launchOf('sh', '-c', 'echo once >> ran');
  assert.equal(run(launch), 0);
  assert.equal(run(launch), 0);
  assert.equal(readFileSync(join(launch.folder, 'ran'), 'utf8'), 'once\n');
});

test('who takes the claim first keeps it from ever beginning', () => {
  const launch = launchOf('touch', 'ran');
  mkdirSync(join(launch.folder, 'claim'));
  assert.equal(run(launch), 0);
  assert.equal(existsSync(join(launch.folder, 'ran')), false);
  assert.equal(existsSync(join(launch.folder, 'started')), false);
});

test('a folder that is gone is no start', () => {
  const launch = launchOf('touch', '/nowhere');
  rmSync(launch.folder, { recursive: true });
  assert.equal(run(launch), 0);
  assert.equal(existsSync(launch.folder), false);
});

test('the end of a program that a signal ends is told, also when all are told to end', async () => {
  const launch = launchOf('sh', '-c', 'kill -9 $$');
  run(launch);
  assert.deepEqual(receipts(launch).ended?.exit, { signal: 9 });

  const slow = launchOf(
    'sh',
    '-c',
    'trap "echo bye; exit 7" TERM; echo up > up; while :; do sleep 0.05; done',
  );
  const child = spawn('sh', { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  prepare(slow);
  child.stdin.end(siteScript(slow));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  while (!existsSync(join(slow.folder, 'up'))) await new Promise((go) => setTimeout(go, 10));
  process.kill(-(child.pid ?? 0), 'SIGTERM');
  await ended;
  assert.deepEqual(receipts(slow).ended?.exit, { code: 7 });
});

test('[G22] signals for all of a job reach the program, and its end is told', async () => {
  const count = "trap 'n=1$n' 10 26 40 64; echo up >up; until [ $n = 11110 ]; do sleep 0.02; done";
  const line = `n=0; ${count}`;
  for (const shell of SHELLS) {
    const launch = launchOf('sh', '-c', `${line}; exit 7`);
    const child = spawn(shell, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    prepare(launch);
    child.stdin.end(siteScript(launch));
    const ended = new Promise((resolve) => child.once('exit', resolve));
    while (!existsSync(join(launch.folder, 'up'))) await new Promise((go) => setTimeout(go, 10));
    for (const signal of [10, 26, 40, 64]) process.kill(-(child.pid ?? 0), signal);
    await ended;
    assert.deepEqual(receipts(launch).ended?.exit, { code: 7 }, shell);
  }
});

test('a program that a signal for all of a job makes end at once ends with its own code', async () => {
  for (const shell of SHELLS) {
    for (let round = 0; round < 15; round += 1) {
      const launch = launchOf('sh', '-c', 'trap "exit 7" TERM; echo up >up; read x <>pipe');
      spawnSync('mkfifo', [join(launch.folder, 'pipe')]);
      const child = spawn(shell, { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
      prepare(launch);
      child.stdin.end(siteScript(launch));
      const ended = new Promise((resolve) => child.once('exit', resolve));
      while (!existsSync(join(launch.folder, 'up'))) await new Promise((go) => setTimeout(go, 5));
      // A shell that has a signal just before it reads does not see it until the next one.
      const tell = () => process.kill(-(child.pid ?? 0), 'SIGTERM');
      tell();
      const again = setInterval(tell, 1000);
      await ended.finally(() => clearInterval(again));
      assert.deepEqual(receipts(launch).ended?.exit, { code: 7 }, shell);
    }
  }
});

test('a program that is not there, and a folder that cannot be entered, are ends as well', () => {
  const missing = launchOf('/no/such/program');
  assert.equal(run(missing), 127);
  assert.deepEqual(receipts(missing).ended?.exit, { code: 127 });
  const nowhere = { ...launchOf('true'), cwd: '/no/such/folder' };
  run(nowhere);
  assert.deepEqual(receipts(nowhere).ended?.exit, { code: 125 });
});

test('a receipt that is not whole is none', () => {
  for (const text of ['', '1795313939', '1795313939 3 0m0.0', '1 2 3\n', 'x 0 0m0s 0m0s\n']) {
    assert.equal(parseEndReceipt(text), null, text);
  }
  assert.equal(parseStartReceipt('1795313939 n1'), null);
  assert.deepEqual(parseEndReceipt('10 0 1m2.5s 0m0.25s\n'), {
    at: 10_000,
    exit: { code: 0 },
    userUs: 62_500_000,
    systemUs: 250_000,
  });
});
