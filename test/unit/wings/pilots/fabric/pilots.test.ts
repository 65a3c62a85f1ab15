// What is submitted for pilots, word by word, and what listings of their batch system mean.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { SiteJob } from '../../../../../src/kernel/model/site.ts';
import type { Command, Commands } from '../../../../../src/kernel/ports/commands.ts';
import { PilotHost } from '../../../../../src/wings/pilots/fabric/pilot-host.ts';
import type { PilotRequest } from '../../../../../src/wings/pilots/model/pilot.ts';
import { sge } from '../../../../../src/wings/sites/adaptors/sge/sge.ts';
import { slurm } from '../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { PLAIN_SITE_JOB } from '../../../../support/plain.ts';

const WISH: PilotRequest = {
  system: 'slurm',
  cpuCount: 1,
  memoryBytes: null,
  walltimeMs: null,
  isolated: false,
  queue: null,
  options: [],
  image: null,
  dockerArgs: [],
  directory: '/w',
  sharedPaths: ['/w'],
};
const SGE = sge({ oneSlotPerHost: [], ticket: 't', queue: 'all.q', environment: null }, null);

async function submitted(
  wish: Partial<PilotRequest>,
  count = 32,
  program: readonly string[] = ['/n', '/weft'],
) {
  const ran: Command[] = [];
  const commands: Commands = {
    run(command) {
      ran.push(command);
      const said = { output: '17\n', errors: '', how: 'exit code 0', code: 0, succeeded: true };
      return Promise.resolve({ ...said, isThere: () => false });
    },
  };
  const adaptor = wish.system === 'sge' ? SGE : slurm(null);
  const host = new PilotHost({ adaptor, commands, program, timeoutMs: 1000 });
  const launch = { fleet: 'f', launch: 1, tag: 'ab', count, wish: { ...WISH, ...wish } };
  const answer = await host.submit({ ...launch, ticket: 'weft-join:x' }, null);
  return { answer, argv: ran[0]?.argv, script: ran[0]?.input ?? '' };
}

test('[Q9] one command submits all pilots of a launch, with the words given for it', async () => {
  const plain = await submitted({});
  assert.deepEqual(plain.argv, [
    ...['sbatch', '--parsable', '--no-requeue', '--job-name=weft-pilot-ab-1', '--export=ALL'],
    ...[
      '--nodes=1-1',
      '--ntasks-per-node=1',
      '--cpus-per-task=1',
      '--chdir=/w',
      '--output=/dev/null',
    ],
    ...['--error=/dev/null', '--array=1-32'],
  ]);
  const full = await submitted({
    cpuCount: 2,
    memoryBytes: 2 ** 30,
    walltimeMs: 3_600_000,
    isolated: true,
    queue: 'long',
    options: ['--qos=low', '--comment=a b'],
  });
  assert.deepEqual(full.argv?.slice(-8), [
    ...[
      '--error=/dev/null',
      '--partition=long',
      '--time=0-01:00:00',
      '--mem=1024M',
      '--array=1-32',
    ],
    ...['--exclusive', '--qos=low', '--comment=a b'],
  ]);
  const grid = await submitted({ system: 'sge', walltimeMs: 3_600_000, isolated: true }, 2);
  assert.deepEqual(grid.argv, [
    ...['qsub', '-terse', '-r', 'n', '-S', '/bin/sh', '-N', 'weft-pilot-ab-1', '-wd', '/w'],
    ...['-o', '/dev/null', '-e', '/dev/null', '-l', 'h_rt=3600', '-notify', '-t', '1-2'],
    ...['-l', 'exclusive=true'],
  ]);
});

test('[Q9] nothing that was not given is inserted, and each script is one for sh', async () => {
  for (const wish of [
    {},
    { system: 'sge' },
    { image: 'weft' },
    { image: 'i', dockerArgs: ['-v'] },
  ]) {
    const { argv = [], script } = await submitted(wish as Partial<PilotRequest>);
    const all = [...argv, script].join(' ').replaceAll('/dev/null', '');
    assert.doesNotMatch(all, /\b(None|null|undefined|NaN)\b/);
    const checked = spawnSync('sh', ['-n'], { input: script, encoding: 'utf8' });
    assert.deepEqual([checked.status, checked.stderr], [0, ''], script);
  }
});

const top = mkdtempSync(join(tmpdir(), 'weft-pilots-'));
after(() => rmSync(top, { recursive: true }));

/** Runs the script of a pilot whose `weft` is this script; what that has noted, and its end. */
async function ran(weft: string, during: (note: string, pid: number) => Promise<unknown>) {
  const folder = mkdtempSync(join(top, 'pilot-'));
  const note = join(folder, 'note');
  writeFileSync(join(folder, 'weft'), `note=${note}\n${weft}`);
  const program = ['/bin/sh', join(folder, 'weft')];
  const { script } = await submitted({ directory: folder }, 1, program);
  writeFileSync(join(folder, 'script'), script);
  const env = { PATH: process.env.PATH ?? '', TMPDIR: folder };
  const shell = spawn('sh', [join(folder, 'script')], { env, stdio: 'ignore' });
  const ended = once(shell, 'exit');
  await during(note, shell.pid ?? 0);
  const [code] = (await ended) as [number | null];
  const left = readdirSync(folder).filter((name) => name.startsWith('weft-pilot.'));
  return { code, left, noted: readFileSync(note, 'utf8') };
}

test('a pilot waits for a head that is being started anew, and leaves nothing when it gives up', async () => {
  const weft = 'echo "$1 $WEFT_JOIN_RETRIES $WEFT_JOIN_RETRY_WAIT" >>$note; exit 69';
  const { code, left, noted } = await ran(weft, () => Promise.resolve());
  assert.deepEqual([code, left, noted], [69, [], 'join 24 5s\n']);
});

test('[Q5] a pilot that is told to end while it waits for its head ends then', async () => {
  const weft = 'echo $1 >>$note; exec sleep 60';
  const { code, left, noted } = await ran(weft, async (note, pid) => {
    while (!existsSync(note)) await setTimeout(20);
    process.kill(pid, 'SIGTERM');
  });
  assert.deepEqual([code, left, noted], [0, [], 'join\n']);
});

test('a pilot whose agent is killed ends what that ran: its tasks are started elsewhere', async () => {
  const weft = `[ $1 = agent ] || exit 0
    env -i WEFT_HOSTFILE=$TMPDIR/nodes/f-1-1/hosts/1x1 setsid sleep 60 & echo $! >>$note
    until grep -qx sleep /proc/$!/comm; do sleep 0.02; done; kill -9 $$`;
  const { code, left, noted } = await ran(weft, () => Promise.resolve());
  assert.deepEqual([code, left], [137, []]);
  assert.throws(() => process.kill(Number(noted), 0), /ESRCH/);
});

test('a pilot whose agent is killed leaves alone what a task has given to the batch system', async () => {
  const weft = `[ $1 = agent ] || exit 0
    job="WEFT_HOSTFILE=$TMPDIR/nodes/f-1-1/hosts/1x1 sleep 60 & echo \\$! >>$note; wait"
    env -i PATH=$PATH setsid sh -c "$job" & until [ -s $note ]; do sleep 0.02; done; kill -9 $$`;
  const { code, left, noted } = await ran(weft, () => Promise.resolve());
  assert.deepEqual([code, left], [137, []]);
  assert.ok(process.kill(Number(noted), 'SIGKILL'));
});

test('a pilot that ends by itself leaves alone what knows of its folder, as another job may', async () => {
  const weft = `[ $1 = agent ] || exit 0
    env -i WEFT_HOSTFILE=$TMPDIR/nodes/f-1-1/hosts/1x1 setsid sleep 60 & echo $! >>$note`;
  const { code, left, noted } = await ran(weft, () => Promise.resolve());
  assert.deepEqual([code, left], [0, []]);
  assert.ok(process.kill(Number(noted), 'SIGKILL'));
});

test('[Q9] a docker pilot has its image, its words and the network of its machine', async () => {
  const { script } = await submitted({
    image: 'lab/weft:1',
    dockerArgs: ['-v', '/data:/data dir'],
  });
  const line = /docker run[\s\S]*?--entrypoint \/bin\/sh [^ ]+/
    .exec(script)?.[0]
    .replace(/\\\n */g, '');
  assert.equal(
    line,
    `docker run --rm -i --network host --name "weft-$name" -v /w:/w "$@" -v '/data:/data dir' --entrypoint /bin/sh lab/weft:1`,
  );
});

test('Grid Engine gives one slot, unless a parallel environment is named', async () => {
  const { answer } = await submitted({ system: 'sge', cpuCount: 4 });
  assert.ok(!answer.ok && /a pilot of 4 cpus needs a parallel environment/.test(answer.error.text));
  const named = await submitted({ system: 'sge', cpuCount: 4, options: ['-pe', 'smp', '4'] });
  assert.ok(named.answer.ok);
});

const JOB: SiteJob = {
  ...PLAIN_SITE_JOB,
  id: '17',
  name: 'n',
  owner: 'ann',
  word: 'PENDING',
  walltimeMs: 60_000,
};

test('[Q5] a pilot that a listing lacks is gone; elements that wait together are not', () => {
  const host = new PilotHost({
    adaptor: slurm(null),
    program: [],
    timeoutMs: 0,
    commands: { run: () => Promise.reject(new Error('nothing is run')) },
  });
  const place = host.placesIn(
    [
      { ...JOB, elements: '4-5,9' },
      { ...JOB, id: '17_1', state: 'running', startedAt: 1000 },
      { ...JOB, id: '17_2', state: 'running', startedAt: 1000, walltimeMs: null },
      { ...JOB, id: '17_3', state: 'ended', word: 'TIMEOUT', reason: 'TimeLimit' },
      { ...JOB, id: '17_6', state: 'unknown' },
    ],
    '17',
  );
  assert.deepEqual(place(1), { state: 'running', endsAt: 61_000 });
  assert.deepEqual(place(2), { state: 'running', endsAt: null });
  assert.deepEqual(place(3), { state: 'gone', why: 'TIMEOUT, TimeLimit' });
  for (const index of [4, 5, 6, 9]) assert.deepEqual(place(index), { state: 'waiting' });
  assert.deepEqual(place(7), { state: 'gone', why: null });
  const odd = host.placesIn([{ ...JOB, elements: '?' }], '17');
  assert.deepEqual(odd(7), { state: 'waiting' });
});
