// A keeper and daemons that die: what is started again, when, and when no more.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { daemonNotes } from '../../../../src/kernel/cli/daemons/daemon-notes.ts';
import { type Keeper, keepOthers } from '../../../../src/kernel/cli/daemons/keeper.ts';
import { LocalPaths, writeJson } from '../../../../src/kernel/cli/daemons/local-paths.ts';
import { forgiveDeaths, readRestarts } from '../../../../src/kernel/cli/daemons/restarts.ts';
import { addToRoster, readRoster } from '../../../../src/kernel/cli/daemons/roster.ts';
import {
  compiledFolder,
  type Daemon,
  daemonEnvironment,
  startDaemon,
} from '../../../../src/kernel/cli/daemons/spawn.ts';
import { takeLock } from '../../../../src/kernel/connect/lock-file.ts';
import {
  endProcess,
  readLiveMark,
  writeMark,
} from '../../../../src/kernel/connect/process-file.ts';

const TIMES = { lookMs: 5, quickMs: 60_000, retryMs: 1, retryMsMax: 4, quickDeathsMax: 3 };

/** Notes each of its starts, and ends or lives as its file says. */
const DAEMON = `import { appendFileSync, readFileSync } from 'node:fs';
const file = process.argv[2];
appendFileSync(file + '.starts', readFileSync(file));
const { exit } = JSON.parse(readFileSync(file, 'utf8'));
if (exit === undefined) setInterval(() => undefined, 60_000);
else { process.stderr.write('it is broken'); process.exit(exit); }
`;

class Place {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'weft-keeper-'));
  readonly paths = new LocalPaths(this.directory);
  readonly said: string[] = [];
  keeper: Keeper | null = null;

  constructor(t: TestContext) {
    this.paths.make('own');
    writeFileSync(path.join(this.directory, 'daemon.mjs'), DAEMON);
    t.after(async () => {
      this.keeper?.stop();
      await eventually(() => !existsSync(this.paths.upLock));
      for (const name of ['head', 'n1']) {
        const mark = readLiveMark(this.paths.mark(name));
        if (mark !== null) await endProcess(mark, { signal: 'SIGKILL', graceMs: 5000 });
      }
      rmSync(this.directory, { recursive: true });
    });
  }

  /** A daemon that is in the roster and does not run. */
  dead(name: string, options: object = {}): void {
    const file = path.join(this.directory, `${name}.json`);
    writeJson(file, options);
    const daemon: Daemon = {
      names: [name],
      script: path.join(this.directory, 'daemon.mjs'),
      optionsFiles: [file],
      markFiles: [this.paths.mark(name)],
      outputFile: this.paths.output(name),
      isKept: true,
    };
    addToRoster(this.paths, daemon);
  }

  keep(times = TIMES): void {
    const warn = (_: object, words: string) => void this.said.push(words);
    const world = { paths: this.paths, environment: process.env, warn, times };
    this.keeper = keepOthers(world);
  }

  pid(name: string): number | undefined {
    return readLiveMark(this.paths.mark(name))?.pid;
  }

  restarts(name: string) {
    return readRestarts(this.paths)[name];
  }

  starts(name: string): string {
    const file = path.join(this.directory, `${name}.json.starts`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }
}

test('what has died is started again, and told', async (t) => {
  const place = new Place(t);
  place.dead('head', { acceptLoss: true, newIdentity: true, other: 1 });
  place.keep();
  await eventually(() => place.starts('head') !== '');
  assert.deepEqual(JSON.parse(place.starts('head')), { other: 1 }, 'asked for at one start only');
  const first = place.pid('head') ?? 0;
  process.kill(first, 'SIGKILL');
  await eventually(() => ![undefined, first].includes(place.pid('head')));
  assert.equal(place.restarts('head')?.count, 2);
  assert.equal(place.said.length, 2);
  const [note] = daemonNotes(place, null);
  assert.equal(note?.isBad, false);
  assert.match(
    note?.text ?? '',
    /^The head was started again 2 times in the last .+, last .+ ago\.$/,
  );
});

test('a hint brings a look at once, and another while the one that dies is still there', async (t) => {
  const place = new Place(t);
  place.dead('head');
  place.keep({ ...TIMES, lookMs: 3_600_000 });
  place.keeper?.lookSoon();
  await eventually(() => place.pid('head') !== undefined);
  const first = place.pid('head') ?? 0;
  place.keeper?.lookSoon();
  process.kill(first, 'SIGKILL');
  await eventually(() => ![undefined, first].includes(place.pid('head')));
});

test('one that is added while all others live is kept, too', async (t) => {
  const place = new Place(t);
  place.dead('head');
  place.keep();
  await eventually(() => place.pid('head') !== undefined);
  place.dead('n1');
  await eventually(() => place.pid('n1') !== undefined);
  assert.deepEqual([place.restarts('head')?.count, place.restarts('n1')?.count], [1, 1]);
});

test('one that was started and not marked, as its starter was killed, is not started twice', async (t) => {
  const place = new Place(t);
  place.dead('head');
  const [daemon] = readRoster(place.paths);
  assert.ok(daemon !== undefined);
  const pid = await startDaemon(daemon, process.env);
  await eventually(() => place.starts('head') !== '');
  rmSync(place.paths.mark('head'));
  assert.equal(place.pid('head'), undefined);
  place.keep();
  await eventually(() => place.pid('head') !== undefined);
  assert.equal(place.pid('head'), pid);
  assert.equal(place.starts('head'), '{}\n', 'once');
});

test('after deaths soon after starts nobody tries again until weft up forgives them', async (t) => {
  const place = new Place(t);
  place.dead('n1', { exit: 1 });
  place.keep();
  await eventually(() => typeof place.restarts('n1')?.gaveUp === 'string');
  assert.equal(place.starts('n1').trim().split('}').length - 1, 3);
  const [note] = daemonNotes(place, null);
  const words =
    /^The process of the agents of n1 is not started again: it ended 3 times within 60 s/;
  assert.equal(note?.isBad, true);
  assert.match(note?.text ?? '', words);
  writeJson(path.join(place.directory, 'n1.json'), {});
  const lock = takeLock(place.paths.upLock, 'user');
  assert.ok(lock.ok);
  forgiveDeaths(place.paths);
  lock.release();
  await eventually(() => place.pid('n1') !== undefined);
});

test('a head that ended with a final code is left to a person', async (t) => {
  for (const code of [2, 65, 70, 77]) {
    const place = new Place(t);
    place.dead('head');
    writeFileSync(place.paths.exit('head'), `${code}\n`);
    place.keep();
    await eventually(() => place.said.length > 0);
    assert.deepEqual([place.pid('head'), place.starts('head')], [undefined, '']);
    assert.match(daemonNotes(place, null)[0]?.text ?? '', new RegExp(`exit code ${code}\\.`));
  }
});

test('nothing is started while up or down works, nor when down has ended the keeping', async (t) => {
  const place = new Place(t);
  writeMark(place.paths.upLock, process.ppid);
  place.dead('head');
  place.keep();
  const taken = takeLock(place.paths.upLock, 'keeper');
  assert.equal(!taken.ok && taken.holder?.pid, process.ppid);
  await anotherKeeperStarts(t);
  rmSync(place.paths.roster);
  rmSync(place.paths.upLock);
  await anotherKeeperStarts(t);
  assert.deepEqual([place.starts('head'), place.said], ['', []]);
});

test('a lock that a dead process left is taken, once', (t) => {
  const place = new Place(t);
  const gone = JSON.stringify({ pid: process.ppid, startTicks: 1, bootId: 'another' });
  writeFileSync(place.paths.upLock, gone);
  const lock = takeLock(place.paths.upLock, 'keeper');
  assert.ok(lock.ok);
  assert.equal(readLiveMark(place.paths.upLock)?.pid, process.pid);
  lock.release();
  assert.equal(existsSync(place.paths.upLock), false);
});

/** Waits so long that a keeper that began before has looked, too. */
async function anotherKeeperStarts(t: TestContext): Promise<void> {
  const other = new Place(t);
  other.dead('head');
  other.keep();
  await eventually(() => other.starts('head') !== '');
}

async function eventually(holds: () => boolean): Promise<void> {
  const until = performance.now() + 60_000;
  while (!holds()) {
    assert.ok(performance.now() < until);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('what a daemon has for itself is marked, and set anew for one that it starts', (t) => {
  const HOME = mkdtempSync(path.join(tmpdir(), 'weft-home-'));
  t.after(() => rmSync(HOME, { recursive: true }));
  const first = daemonEnvironment({ HOME, WEFT_TOKEN: 'x', WEFT_DIR: '/w' });
  const cache = compiledFolder({ HOME });
  assert.deepEqual(first, {
    HOME,
    WEFT_DIR: '/w',
    MALLOC_ARENA_MAX: '1',
    NODE_COMPILE_CACHE: cache,
    WEFT_FOR_ITSELF: 'MALLOC_ARENA_MAX NODE_COMPILE_CACHE',
  });
  assert.deepEqual(daemonEnvironment(first), first);
  const chosen = daemonEnvironment({ HOME, MALLOC_ARENA_MAX: '4' });
  assert.deepEqual(
    [chosen['MALLOC_ARENA_MAX'], chosen['WEFT_FOR_ITSELF']],
    ['4', 'NODE_COMPILE_CACHE'],
  );
});
