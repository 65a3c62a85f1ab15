// A site in the place of a launcher: submissions that are lost, listings that lie, gateways that
// are killed. Each launch runs once, and its end is told once, with evidence.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { ProcessEvent } from '../../../../../../src/kernel/model/processes.ts';
import type { LaunchRequest } from '../../../../../../src/kernel/ports/processes.ts';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { SiteProcesses } from '../../../../../../src/wings/sites/fabric/site/site-processes.ts';
import { siteFolders } from '../../../../../../src/wings/sites/os/site-folders.ts';
import type { SiteFolders } from '../../../../../../src/wings/sites/ports/sites.ts';
import { PLAIN_LAUNCH } from '../../../../../support/plain.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-site-'));
after(() => rmSync(top, { recursive: true }));

let count = 0;

function newFolder(): string {
  count += 1;
  return join(top, String(count));
}

class Gateway {
  readonly site: FakeSlurm;
  readonly clock: VirtualClock;
  readonly folder: string;
  readonly events: ProcessEvent[] = [];
  readonly log = new KeptLog();
  /** What its site does not do, by the starts of tasks. */
  readonly undone = new Map<string, string>();
  readonly processes: SiteProcesses;

  constructor(before?: Gateway, folders: Partial<SiteFolders> = {}, nonce?: () => string) {
    this.site = before?.site ?? new FakeSlurm();
    this.clock = before?.clock ?? new VirtualClock();
    this.folder = before?.folder ?? newFolder();
    this.processes = new SiteProcesses({
      adaptor: slurm(null),
      commands: this.site,
      clock: this.clock,
      log: this.log,
      folders: { ...siteFolders(this.folder), ...folders },
      onUndone: (epochId, words) => {
        if (words === null) this.undone.delete(epochId);
        else this.undone.set(epochId, words);
      },
      settings: {
        prefix: 'weft-abc',
        queue: null,
        account: null,
        options: [],
        before: [],
        pollMs: 5000,
        timeoutMs: 1000,
        commandsMax: 4,
        ...(nonce === undefined ? {} : { nonce }),
      },
    });
    this.processes.onEvent((event) => this.events.push(event));
  }

  start(launchId: number, line = 'echo hello'): void {
    this.processes.start({
      ...PLAIN_LAUNCH,
      launchId,
      argv: ['sh', '-c', line],
      environment: ['PATH=/usr/bin:/bin', `WEFT_TASK_ID=${launchId}`, 'WEFT_EPOCH=1'],
      cwd: this.folder,
      stdout: join(this.folder, `${launchId}.out`),
      stderr: join(this.folder, `${launchId}.err`),
    } satisfies LaunchRequest);
  }

  /** What was told of it, in words. */
  told(launchId: number): string[] {
    return this.events
      .filter((event) => event.launchId === launchId)
      .map((event) => {
        if (event.kind === 'exited') return `exited ${JSON.stringify(event.exit)}`;
        return event.kind === 'refused' ? `refused: ${event.why}` : event.kind;
      });
  }
}

async function begun(): Promise<Gateway> {
  const gateway = new Gateway();
  assert.deepEqual(await gateway.processes.adopt(), []);
  return gateway;
}

test('a launch is a job of the site, and its receipts are its start and its end', async () => {
  const gateway = await begun();
  gateway.start(1, 'echo hello; exit 3');
  await gateway.clock.advance(1000);
  assert.deepEqual(
    gateway.site.jobs.map(({ name }) => name),
    ['weft-abc-1'],
  );
  assert.deepEqual(gateway.told(1), []);
  gateway.site.execute(101);
  await gateway.clock.advance(1000);
  assert.deepEqual(gateway.told(1), ['started', 'exited {"code":3}']);
  assert.equal(readFileSync(join(gateway.folder, '1.out'), 'utf8'), 'hello\n');
  assert.equal(await gateway.processes.leftovers(1), 0);
  gateway.processes.forget(1);
  assert.equal(existsSync(join(gateway.folder, '1')), false);
});

test('what its site does not do with a task is told until it has done it', async () => {
  const gateway = await begun();
  const { clock, site, undone } = gateway;
  site.moods.set('sbatch', ['rubbish']);
  gateway.start(1, 'sleep 9');
  await clock.advance(1000);
  const words = 'sbatch: its answer has no job id';
  assert.deepEqual(
    [...undone],
    [['1#1', `Its site does not take it: ${words}. It is asked again.`]],
  );
  // A name that nobody has there says nothing of why.
  await clock.advance(14_000);
  assert.equal(undone.size, 1);
  await clock.advance(10_000);
  assert.deepEqual([site.jobs.length, undone.size], [1, 0]);
  site.refuses = ([name]) => name === 'scancel';
  gateway.processes.signal(1, 15);
  await clock.advance(1000);
  assert.match(undone.get('1#1') ?? '', /^Its site does not end it: scancel: .*qos.*again[.]$/);
  site.refuses = () => false;
  await clock.advance(10_000);
  assert.equal(undone.size, 0);
});

test('[G19] a running job that is ended at its site by hand is told as that', async () => {
  const gateway = await begun();
  gateway.start(1, 'kill -TERM $$');
  await gateway.clock.advance(1000);
  gateway.site.execute(101);
  gateway.site.set(101, { state: 'CANCELLED', exit: 15 });
  await gateway.clock.advance(10_000);
  const [, end] = gateway.events;
  assert.ok(end?.kind === 'exited');
  assert.deepEqual(
    [end.exit, end.cancelledThere],
    [{ signal: 15 }, 'ended at its site: CANCELLED'],
  );
});

test('a job has a name that nobody can guess, and the next gateway finds it by that', async () => {
  const gateway = new Gateway(undefined, {}, () => 'n0nce');
  assert.deepEqual(await gateway.processes.adopt(), []);
  // A user of the site has seen names of jobs, and was first with the next one.
  const theirs = { id: 50, name: 'weft-abc-1', script: '', state: 'RUNNING', exit: 0, nodes: 'n1' };
  gateway.site.jobs.push(theirs);
  gateway.site.moods.set('sbatch', ['lost']);
  gateway.start(1);
  await gateway.clock.advance(10);
  const next = new Gateway(gateway);
  await next.processes.adopt();
  await next.clock.advance(60_000);
  const names = next.site.jobs.map(({ name }) => name);
  assert.deepEqual(names, ['weft-abc-1', 'weft-abc-1-n0nce']);
  next.site.execute(102);
  await next.clock.advance(1000);
  assert.deepEqual(next.told(1), ['started', 'exited {"code":0}']);
});

test('an answer that was lost makes no second job', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['lost']);
  gateway.start(1);
  await gateway.clock.advance(60_000);
  assert.equal(gateway.site.jobs.length, 1);
  gateway.site.execute(101);
  await gateway.clock.advance(1000);
  assert.deepEqual(gateway.told(1), ['started', 'exited {"code":0}']);
});

test('a site that takes nothing for an hour has each job once afterwards', async () => {
  const gateway = await begun();
  gateway.site.moods.set(
    'sbatch',
    Array.from({ length: 150 }, () => 'hangs' as const),
  );
  gateway.start(1);
  await gateway.clock.advance(3_600_000);
  assert.equal(gateway.site.jobs.length, 1);
});

test('a gateway that is killed in the middle of a submission looks the name up', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['lost']);
  gateway.start(1);
  await gateway.clock.settle();
  gateway.processes.close();
  const next = new Gateway(gateway);
  assert.deepEqual(await next.processes.adopt(), [{ launchId: 1, state: 'launching' }]);
  await next.clock.advance(30_000);
  assert.equal(next.site.jobs.length, 1);
  next.site.execute(101);
  await next.clock.advance(1000);
  assert.deepEqual(next.told(1), ['started', 'exited {"code":0}']);
});

test('what ended while no gateway was there is known at once, and told once', async () => {
  const gateway = await begun();
  gateway.start(1, 'exit 4');
  await gateway.clock.advance(1000);
  gateway.processes.close();
  gateway.site.execute(101);
  gateway.site.purge(101);
  const next = new Gateway(gateway);
  const [known] = await next.processes.adopt();
  assert.equal(known?.state, 'ended');
  assert.ok(known.end?.kind === 'exited');
  assert.ok(known.startedAt !== undefined, 'by its receipt');
  assert.deepEqual(known.end.exit, { code: 4 });
  await next.clock.advance(60_000);
  assert.deepEqual(next.told(1), []);
});

test('a refusal is told in the words of the site, and nothing is left to do', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['refuses']);
  gateway.start(1);
  await gateway.clock.advance(60_000);
  assert.deepEqual(gateway.told(1), ['refused: sbatch: sbatch: error: Invalid qos specification']);
  assert.equal(gateway.site.jobs.length, 0);
});

test('a refusal of a job that has begun all the same is none', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['cut']);
  gateway.site.onCut = () => gateway.site.execute(101);
  gateway.start(1, 'exit 5');
  await gateway.clock.advance(60_000);
  assert.deepEqual(gateway.told(1), ['started', 'exited {"code":5}']);
});

test('a job that was refused does not begin later', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['cut']);
  gateway.start(1, 'touch ran');
  await gateway.clock.advance(1000);
  assert.match(gateway.told(1).join(), /^refused: sbatch: client_loop/);
  gateway.site.execute(101);
  assert.equal(existsSync(join(gateway.folder, 'ran')), false);
});

test('a job that was refused and is there all the same is cancelled there', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['cut']);
  gateway.start(1);
  await gateway.clock.advance(1000);
  assert.match(gateway.told(1).join(), /^refused: sbatch: client_loop/);
  gateway.processes.forget(1);
  gateway.site.moods.set('scancel', ['hangs']);
  await gateway.clock.advance(30_000);
  assert.deepEqual(
    gateway.site.jobs.map(({ state }) => state),
    ['CANCELLED'],
  );
  assert.equal(existsSync(join(gateway.folder, '1')), false);
  const looks = gateway.site.ran.length;
  await gateway.clock.advance(30_000);
  assert.equal(gateway.site.ran.length, looks, 'nobody asks for it any more');
});

test('a refusal outlives the gateway that heard it, and so does what is to be cancelled', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['cut']);
  gateway.start(1);
  await gateway.clock.advance(1000);
  gateway.processes.close();
  const next = new Gateway(gateway);
  const [known] = await next.processes.adopt();
  assert.equal(known?.state, 'ended');
  assert.match(known.end?.kind === 'refused' ? known.end.why : '', /^sbatch: client_loop/);
  next.processes.forget(1);
  await next.clock.advance(30_000);
  assert.deepEqual(
    next.site.jobs.map(({ state }) => state),
    ['CANCELLED'],
  );
  assert.equal(existsSync(join(next.folder, '1')), false);
});

test('what its agent has forgotten is no launch of the next gateway, and is cleared by it', async () => {
  const gateway = await begun();
  gateway.site.moods.set('sbatch', ['cut']);
  gateway.start(1);
  await gateway.clock.advance(1000);
  gateway.processes.forget(1);
  gateway.processes.close();
  const next = new Gateway(gateway);
  assert.deepEqual(await next.processes.adopt(), []);
  await next.clock.advance(30_000);
  assert.deepEqual(
    next.site.jobs.map(({ state }) => state),
    ['CANCELLED'],
  );
  assert.equal(existsSync(join(next.folder, '1')), false);
});

test('a folder that cannot be removed ends no gateway, and is forgotten by the next', async () => {
  const remove = () => {
    throw new Error('EACCES: permission denied');
  };
  const gateway = new Gateway(undefined, { remove });
  await gateway.processes.adopt();
  gateway.start(1, 'exit 3');
  await gateway.clock.advance(1000);
  gateway.site.execute(101);
  await gateway.clock.advance(1000);
  gateway.processes.forget(1);
  assert.match(JSON.stringify(gateway.log.lines), /the folder of a job that is over stays/);
  gateway.processes.close();
  const next = new Gateway(gateway);
  assert.equal((await next.processes.adopt()).length, 1);
  next.processes.forget(1);
  assert.equal(existsSync(join(next.folder, '1')), false);
});

test('one folder that cannot be read keeps nobody from the receipts of others', async () => {
  const gateway = await begun();
  gateway.start(1);
  gateway.start(2);
  await gateway.clock.advance(1000);
  const shut = join(gateway.folder, '1', 'run');
  rmSync(shut, { recursive: true });
  // Neither there nor absent: ENOTDIR, for root too.
  writeFileSync(shut, '');
  gateway.site.execute(102);
  await gateway.clock.advance(2000);
  assert.deepEqual(gateway.told(2), ['started', 'exited {"code":0}']);
  const said = gateway.log.lines.filter((line) => JSON.stringify(line).includes('unreadable'));
  assert.equal(said.length, 1);
});

test('listings that cannot be read change nothing', async () => {
  const gateway = await begun();
  gateway.start(1);
  await gateway.clock.advance(1000);
  gateway.site.moods.set(
    'squeue',
    Array.from({ length: 60 }, () => 'rubbish' as const),
  );
  await gateway.clock.advance(200_000);
  assert.deepEqual(gateway.told(1), []);
  assert.ok(gateway.log.lines.length > 0);
  gateway.site.execute(101);
  await gateway.clock.advance(1000);
  assert.deepEqual(gateway.told(1), ['started', 'exited {"code":0}']);
});

test('a job that the site lost before it began can never begin, and is told so', async () => {
  const gateway = await begun();
  gateway.start(1, 'touch ran');
  await gateway.clock.advance(1000);
  const script = gateway.site.jobs[0]?.script ?? '';
  gateway.site.purge(101);
  await gateway.clock.advance(60_000);
  const why = 'its site has it no more, and it had not begun there';
  assert.deepEqual(gateway.told(1), [`refused: ${why}`]);
  // The site finds it again, and starts it.
  Object.assign(gateway.site.jobs[0] ?? {}, { id: 101, script });
  gateway.site.execute(101);
  assert.equal(existsSync(join(gateway.folder, 'ran')), false);
});

test('cancelling goes to the site, and its end comes from there', async () => {
  const gateway = await begun();
  gateway.start(1);
  await gateway.clock.advance(1000);
  gateway.processes.signal(1, 15);
  await gateway.clock.advance(30_000);
  assert.deepEqual(gateway.site.ran.filter(([program]) => program === 'scancel').at(0), [
    'scancel',
    '101',
  ]);
  assert.deepEqual(gateway.told(1), ['refused: cancelled before it began']);
});

test('hundreds of launches are listed by one command, a few run at once', async () => {
  const gateway = await begun();
  for (let launchId = 1; launchId <= 300; launchId += 1) gateway.start(launchId, ':');
  await gateway.clock.advance(20_000);
  assert.equal(gateway.site.jobs.length, 300);
  const listings = gateway.site.ran.filter((argv) => argv.includes('--json'));
  assert.ok(listings.length <= 6, `${listings.length} listings`);
});
