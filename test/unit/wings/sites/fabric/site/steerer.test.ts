// Starts of a site's jobs come one after the other, whatever becomes of each.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { err, ok } from '../../../../../../src/kernel/base/result.ts';
import { executionQueue } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { Steerer } from '../../../../../../src/wings/sites/fabric/site/steerer.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

test('a start that fails is logged, and those behind it have their turn', async () => {
  const site = new FakeSlurm();
  const log = new KeptLog();
  const steerer = new Steerer({
    commands: site,
    log,
    steering: executionQueue({ main: 'main', execution: 'steer' }),
    settings: { timeoutMs: 1000, before: [] },
  });
  site.run = async () => {
    throw new Error('no more processes');
  };
  const first = steerer.start({ id: '101', handle: null }, ['n1']);
  await assert.rejects(first, /no more processes/);
  site.run = FakeSlurm.prototype.run;
  const second = await steerer.start({ id: '102', handle: null }, ['n1']);
  assert.ok(second.ok);
  assert.deepEqual(
    log.lines.map(({ level, fields }) => [level, fields['job'], String(fields['error'])]),
    [['error', '101', 'Error: no more processes']],
  );
});

test('[G6] nothing is started while the site lacks what the takeover needs', async () => {
  const site = new FakeSlurm();
  let isMet = false;
  const query = { command: { argv: ['scontrol', 'ping'] }, read: () => ok(isMet) };
  const requirement = { what: 'its scheduler is off', query, remedy: 'switch it off' };
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const steerer = new Steerer({
    commands: site,
    log: new KeptLog(),
    settings: { timeoutMs: 1000, before: [] },
    steering: { ...steering, requirements: [requirement] },
  });
  const start = () => steerer.start({ id: '101', handle: null }, ['n1']);
  assert.match((await steerer.lacks()) ?? '', /its scheduler is off/);
  const before = site.ran.length;
  const refused = await start();
  assert.equal(!refused.ok && refused.error.kind, 'away');
  assert.equal(site.ran.length, before);
  isMet = true;
  assert.equal(await steerer.lacks(), null);
  assert.ok((await start()).ok);
});

test('[M9] what came in the way while others were started is heeded when its turn comes', async () => {
  const site = new FakeSlurm();
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const settings = { timeoutMs: 1000, before: [] };
  const steerer = new Steerer({ commands: site, log: new KeptLog(), settings, steering });
  let isStopped = false;
  const problem = { kind: 'away', text: 'n1 is stopped for maintenance' } as const;
  const obstacle = () => (isStopped ? problem : null);
  const first = steerer.start({ id: '101', handle: null }, ['n1'], obstacle);
  const second = steerer.start({ id: '102', handle: null }, ['n1'], obstacle);
  await first.then(() => {
    isStopped = true;
  });
  assert.ok((await first).ok);
  assert.deepEqual(await second, { ok: false, error: problem });
  assert.ok(site.ran.every((argv) => !argv.includes('jobid=102')));
});

test('[G5] arrays whose elements are started while a listing is made are heeded', async () => {
  const site = new FakeSlurm();
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const undo = { argv: ['qrls', '-h', 's', '7'] };
  let found = 0;
  const leftovers = {
    command: { argv: ['qstat', '-s', 'hs'] },
    read: () => {
      found += 1;
      return ok([undo]);
    },
  };
  const steerer = new Steerer({
    commands: site,
    log: new KeptLog(),
    settings: { timeoutMs: 1000, before: [] },
    steering: { ...steering, requirements: [], leftovers: [leftovers], read: () => ok(null) },
  });
  assert.deepEqual([await steerer.lacks(), await steerer.lacks(), found], [null, null, 1]);
  assert.ok(site.ran.some((argv) => argv.join(' ') === 'qrls -h s 7'));
  const [early, late] = [steerer.heed(), steerer.heed()];
  const start = steerer.start({ id: '4.1', handle: null, array: '4' }, ['n1']);
  assert.deepEqual([...early()], []);
  await start;
  assert.deepEqual([...late()], ['4']);
  assert.deepEqual([...steerer.heed()()], []);
});

test('[G5] what a start that failed has left is undone before the next one', async () => {
  const site = new FakeSlurm();
  const lines = () => site.ran.map((argv) => argv.join(' '));
  let isAway = true;
  const steering = {
    ...executionQueue({ main: 'main', execution: 'steer' }),
    requirements: [],
    leftovers: [],
    start: ({ id }: { id: string }) => [{ argv: ['begin', id] }],
    takeBack: ({ id }: { id: string }) => [{ argv: ['undo', id] }, { argv: ['gone', id] }],
    read: (_: unknown, program: string) => {
      if (program === 'gone') return err({ kind: 'no_such_job', text: 'no such job' } as const);
      return isAway ? err({ kind: 'away', text: 'no answer' } as const) : ok(null);
    },
  };
  const settings = { timeoutMs: 1000, before: [] };
  const steerer = new Steerer({ commands: site, log: new KeptLog(), settings, steering });
  assert.ok(!(await steerer.start({ id: '1', handle: null }, ['n1'])).ok);
  assert.ok(!(await steerer.start({ id: '2', handle: null }, ['n1'])).ok);
  assert.deepEqual(lines(), ['begin 1', 'undo 1', 'gone 1', 'undo 1']);
  isAway = false;
  await steerer.mend();
  assert.ok((await steerer.start({ id: '2', handle: null }, ['n1'])).ok);
  assert.deepEqual(lines().slice(4), ['undo 1', 'begin 2']);
});

test('[G16] nodes that a user has named stay named when a start is taken back', async () => {
  for (const [isPinned, kept] of [
    [true, ''],
    [false, ' ReqNodeList='],
    [undefined, ''],
  ] as const) {
    const site = new FakeSlurm();
    const steering = {
      ...executionQueue({ main: 'main', execution: 'steer' }),
      requirements: [],
      read: () => ok(null),
    };
    const settings = { timeoutMs: 1000, before: [] };
    const steerer = new Steerer({ commands: site, log: new KeptLog(), settings, steering });
    const job = { id: '1', handle: null };
    await steerer.start({ ...job, ...(isPinned === undefined ? {} : { isPinned }) }, ['n1']);
    // Told again, it is listed with the nodes that we gave it.
    await steerer.start({ ...job, isPinned: isPinned ?? true }, ['n1']);
    await steerer.takeBack(job, ['n1']);
    const last = site.ran.at(-1)?.join(' ');
    assert.equal(last, `scontrol update jobid=1 Partition=main${kept}`, String(isPinned));
  }
});
