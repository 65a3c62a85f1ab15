// The log on a real disk that has no room.

import assert from 'node:assert/strict';
import { execFileSync, type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { linesForPeople, openLog } from '../../../../src/kernel/os/log.ts';

const NO_ROOT = process.getuid?.() === 0 ? false : 'mounting a small disk needs root';
let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'weft-log-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function linesOf(file: string): { msg: string; lost?: number }[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as { msg: string });
}

test('a log without room loses lines, counts them, and ends nobody', { skip: NO_ROOT }, () => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'weft', root]);
  try {
    const file = join(root, 'log');
    const log = openLog({ file, name: 'test' });
    log.info({}, 'before');
    const filler = join(root, 'filler');
    execFileSync('sh', ['-c', 'cat /dev/zero > "$1" 2>/dev/null || true', '_', filler]);
    // The first may find room in the last block.
    for (let n = 0; n < 10; n += 1) log.info({ text: 'x'.repeat(1000) }, `during ${n}`);
    rmSync(filler);
    log.info({}, 'after');
    log.close();
    // What is there of the line that did not fit ends with its own line.
    const whole = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'));
    const said = whole.map((line) => JSON.parse(line) as { msg: string; lost?: number });
    const during = said.filter(({ msg }) => msg.startsWith('during')).length;
    assert.equal(said[0]?.msg, 'before');
    assert.deepEqual(said.at(-2)?.lost, 10 - during);
    assert.ok(during < 10);
    assert.equal(said.at(-1)?.msg, 'after');
  } finally {
    execFileSync('umount', [root]);
  }
});

const LOG = import.meta.resolve('../../../../src/kernel/os/log.ts');

/** A program that logs to standard error, as `sh` has it. */
function logs(statements: string, redirection: string): SpawnSyncReturns<string> {
  const program = `import { openLog } from '${LOG}';
    const log = openLog({ file: null, name: 'test' });
    ${statements}`;
  const line = `exec "$0" --input-type=module -e "$1" ${redirection}`;
  return spawnSync('sh', ['-c', line, process.execPath, program], { encoding: 'utf8' });
}

test('standard error that takes nothing any more ends nobody', () => {
  const full = logs(
    `log.info({}, 'one'); log.info({}, 'two'); console.log('goes on')`,
    '2>/dev/full',
  );
  assert.deepEqual([full.status, full.stdout], [0, 'goes on\n']);
  const closed = logs(`log.info({}, 'one'); console.log('goes on')`, '2>&-');
  assert.deepEqual([closed.status, closed.stdout], [0, 'goes on\n']);
});

test('lines for a pipe that nobody reads are lost, and do not hold the program up for each of them', () => {
  // The pipe does not block, as Node leaves it: what it holds is 64 KiB.
  const program = `import { openLog } from '${LOG}';
    process.stderr.write('');
    process.stderr._handle?.setBlocking(false);
    const log = openLog({ file: null, name: 'test' });
    const began = performance.now();
    for (let n = 0; n < 300; n += 1) log.info({ text: 'x'.repeat(1000) }, 'line');
    console.log(Math.round(performance.now() - began));`;
  const line = 'mkfifo "$2"; sleep 60 < "$2" & "$0" --input-type=module -e "$1" 2> "$2"; kill $!';
  const words = ['-c', line, process.execPath, program, join(root, 'pipe')];
  const { status, stdout } = spawnSync('sh', words, { encoding: 'utf8' });
  assert.equal(status, 0);
  // A wait for each of the lines would take minutes.
  assert.ok(Number(stdout) >= 250 && Number(stdout) < 20_000, stdout);
});

test('after SIGHUP lines go to a new file', () => {
  const file = join(root, 'sub', 'log');
  const log = openLog({ file, name: 'test' });
  log.info({}, 'one');
  renameSync(file, `${file}.1`);
  log.info({}, 'two');
  process.emit('SIGHUP');
  log.warn({ error: new Error('why') }, 'three');
  log.close();
  assert.deepEqual(
    [...linesOf(`${file}.1`), ...linesOf(file)].map(({ msg }) => msg),
    ['one', 'two', 'three'],
  );
});

test('standard error has JSON lines where it is a pipe, and lines for people at a terminal', () => {
  const at = new Date(2026, 0, 2, 14, 2, 3).getTime();
  const line = { time: at, name: 'agent lab2', pid: 7 };
  assert.equal(
    linesForPeople(
      JSON.stringify({ ...line, level: 30, msg: 'connected to the head', session: 3 }),
    ),
    '14:02:03 agent lab2: connected to the head (session 3)\n',
  );
  const error = 'Error: \u001b[31mwhy\n    at there';
  assert.equal(
    linesForPeople(JSON.stringify({ ...line, level: 50, msg: 'a start failed', error })),
    '14:02:03 agent lab2: error: a start failed\nError: [31mwhy\n    at there\n',
  );
  const source = join(import.meta.dirname, '../../../../src/kernel/os/log.ts');
  const say = `import('${source}').then(({ openLog }) => openLog({ file: null, name: 'x' }).info({}, 'said'))`;
  const node = `${process.execPath} --eval "${say}"`;
  const piped = spawnSync('sh', ['-c', node], { encoding: 'utf8' }).stderr;
  assert.equal((JSON.parse(piped) as { msg: string }).msg, 'said');
  const shown = spawnSync('script', ['-qec', node, '/dev/null'], { encoding: 'utf8' }).stdout;
  assert.match(shown, /^\d\d:\d\d:\d\d x: said\r?\n$/);
});

test('a log is not for everybody: names and commands of users are in it', () => {
  const file = join(root, 'private');
  const before = process.umask(0);
  try {
    const log = openLog({ file, name: 'test' });
    renameSync(file, `${file}.1`);
    process.emit('SIGHUP');
    log.close();
  } finally {
    process.umask(before);
  }
  for (const name of [file, `${file}.1`]) assert.equal(statSync(name).mode & 0o777, 0o640);
});

test('the logs of all nodes of a process are opened again on SIGHUP', async () => {
  const names = Array.from({ length: 12 }, (_, at) => join(root, `n${at}`));
  const logs = names.map((file) => openLog({ file, name: 'test' }));
  assert.equal(process.listenerCount('SIGHUP'), 1);
  for (const file of names) renameSync(file, `${file}.1`);
  const reopened = new Promise((resolve) => process.once('SIGHUP', resolve));
  process.kill(process.pid, 'SIGHUP');
  await reopened;
  for (const log of logs) log.info({}, 'after');
  for (const log of logs) log.close();
  assert.deepEqual(
    names.map((file) => linesOf(file).map(({ msg }) => msg)),
    names.map(() => ['after']),
  );
  assert.equal(process.listenerCount('SIGHUP'), 0);
});
