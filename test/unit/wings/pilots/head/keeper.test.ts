// The keeper of pilots beside a batch system that loses answers, lists what others have submitted,
// or hangs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command, CommandEnd } from '../../../../../src/kernel/ports/commands.ts';
import { type PilotAccount, PilotHost } from '../../../../../src/wings/pilots/fabric/pilot-host.ts';
import { PilotKeeper } from '../../../../../src/wings/pilots/head/keeper.ts';
import type { PilotRequest } from '../../../../../src/wings/pilots/model/pilot.ts';
import { slurm } from '../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { EngineBench, settlePromises } from '../../../../support/engine.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
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
  sharedPaths: [],
};

type Said = { readonly code: number | null; readonly output: string };
const HUNG: Said = { code: null, output: '' };

class Place {
  readonly bench = new EngineBench();
  readonly ran: string[] = [];
  /** What is listed. */
  jobs: object[] = [];
  /** What a later listing has beside. */
  next: object[] = [];
  submit: () => Said | Promise<Said> = () => HUNG;
  cancel: Said = { code: 0, output: '' };
  account: PilotAccount | null = { name: 'ada', user: null };
  keeper: PilotKeeper | null = null;

  async begin(): Promise<this> {
    await this.bench.start();
    this.start();
    this.bench.command('start', {
      kind: 'start_fleet',
      name: 'f',
      tag: 'ab',
      isOnce: true,
      min: 2,
      max: 2,
      idleMs: 0,
      wish: WISH,
    });
    await this.bench.settle();
    return this;
  }

  /** Begins anew, like the keeper of another head. */
  start(): void {
    const { engine, clock } = this.bench;
    const run = (command: Command): Promise<CommandEnd> => this.#run(command);
    const host = new PilotHost({
      adaptor: slurm(null),
      commands: { run },
      program: ['weft'],
      timeoutMs: 1000,
    });
    this.keeper = new PilotKeeper({
      engine,
      clock,
      log: QUIET,
      hosts: { slurm: host, sge: host },
      chance: { bytes: (count: number) => new Uint8Array(count).fill(this.ran.length) } as never,
      accountOf: () => Promise.resolve(this.account),
      ticketOf: (token) => token,
    });
  }

  async #run({ argv }: Command): Promise<CommandEnd> {
    const [program = '', job] = argv;
    this.ran.push(program === 'scancel' ? `${program} ${job}` : program);
    const listed = JSON.stringify({ errors: [], jobs: this.jobs });
    if (program === 'squeue') this.jobs.push(...this.next.splice(0));
    const said =
      program === 'sbatch'
        ? await this.submit()
        : program === 'scancel'
          ? this.cancel
          : { code: 0, output: program === 'squeue' ? listed : '' };
    const how = String(said.code);
    return {
      ...said,
      errors: said.code === 0 ? '' : said.output,
      how,
      succeeded: said.code === 0,
      isThere: () => false,
    };
  }

  /** What was run after so long. */
  async after(ms: number): Promise<string[]> {
    this.bench.clock.pass(ms);
    this.keeper?.tick();
    for (let turn = 0; turn < 20; turn += 1) {
      await settlePromises();
      await this.bench.settle();
    }
    return this.ran.splice(0);
  }

  get site(): string | null | undefined {
    return this.bench.engine.state.fleets.get('f')?.launches.get(1)?.site;
  }
}

function job(id: number, name: string, more: object = {}): object {
  return { job_id: id, name, user_name: 'ada', job_state: ['PENDING'], ...more };
}

const element = (id: number, index: number): object =>
  job(id, 'weft-pilot-ab-1', { array_job_id: 17, array_task_id: index, job_state: ['RUNNING'] });

test('[Q8] an array whose answer was lost is found whole, and none of it is ended', async () => {
  const place = await new Place().begin();
  assert.deepEqual(await place.after(0), ['squeue', 'sbatch', 'squeue']);
  place.jobs = [element(17, 1), element(18, 2)];
  assert.deepEqual(await place.after(1500), ['squeue', 'squeue']);
  assert.equal(place.site, '17');
});

test('[Q8] a submission in doubt is made again only when it would be listed by now', async () => {
  const place = await new Place().begin();
  await place.after(0);
  for (const ms of [1500, 6000, 6000]) assert.ok(!(await place.after(ms)).includes('sbatch'));
  assert.ok((await place.after(1500)).includes('sbatch'));
});

test('[Q8] a head that begins waits for what the one before may have submitted', async () => {
  const place = await new Place().begin();
  place.bench.clock.pass(1);
  place.start();
  assert.ok(!(await place.after(0)).includes('sbatch'));
  assert.ok(!(await place.after(14_000)).includes('sbatch'));
  assert.ok((await place.after(1500)).includes('sbatch'));
});

test('[Q8] what others call like a launch is no submission of ours, and is left alone', async () => {
  const place = await new Place().begin();
  place.jobs = [
    job(4, 'weft-pilot-ab-1', { user_name: 'eve' }),
    job(5, 'weft-pilot-ab-7', { user_name: 'eve' }),
  ];
  place.submit = () => {
    place.jobs.push(element(17, 1), element(18, 2));
    return { code: 0, output: '17\n' };
  };
  assert.deepEqual(await place.after(0), ['squeue', 'sbatch', 'squeue']);
  assert.equal(place.site, '17');
});

test('[Q8] jobs of a launch that is not known any more are ended, not those still sought', async () => {
  const place = await new Place().begin();
  await place.after(0);
  place.jobs = [job(9, 'weft-pilot-ab-7'), job(8, 'weft-pilot-abc-1')];
  place.next = [job(17, 'weft-pilot-ab-1')];
  assert.deepEqual(await place.after(1500), ['squeue', 'squeue', 'scancel 9']);
});

test('[Q4] where a user has no account it is refused in words, and the fleet can be stopped', async () => {
  const place = await new Place().begin();
  place.account = null;
  await place.after(0);
  const fleet = place.bench.engine.state.fleets.get('f');
  assert.match(fleet?.trouble ?? '', /has no account 'ada'/);
  place.bench.command('stop', { kind: 'stop_fleet', fleet: 'f' });
  await place.after(60_000);
  assert.equal(place.bench.engine.state.fleets.size, 0);
});

test('the keeper of pilots ends although a batch system hangs, and gives no more commands', async () => {
  const place = await new Place().begin();
  let answer = (_said: Said): void => {};
  place.submit = () => new Promise((resolve) => (answer = resolve));
  assert.deepEqual(await place.after(0), ['squeue', 'sbatch']);
  let isClosed = false;
  const closed = place.keeper?.close().then(() => (isClosed = true));
  await settlePromises();
  assert.equal(isClosed, false);
  place.bench.clock.pass(5000);
  await closed;
  answer({ code: 0, output: '17\n' });
  assert.deepEqual(await place.after(1500), []);
});

test('[Q5] why a pilot is not ended is said where it is shown, once', async () => {
  const place = await new Place().begin();
  await place.after(0);
  place.jobs = [element(17, 1), element(18, 2)];
  await place.after(1500);
  place.cancel = { code: 1, output: 'slurm_load_jobs: Unable to contact slurm controller' };
  place.bench.command('stop', { kind: 'stop_fleet', fleet: 'f' });
  const whys = (): (string | null)[] => {
    const pilots = place.bench.engine.state.fleets.get('f')?.launches.get(1)?.pilots.values() ?? [];
    return [...pilots].map(({ leaving }) => leaving);
  };
  for (let round = 0; round < 3; round += 1) {
    assert.ok((await place.after(1500)).includes('scancel 17'));
    assert.equal(whys().length, 2);
    for (const why of whys()) assert.equal(why?.split('not ended yet: ').length, 2, `${why}`);
    assert.match(whys()[0] ?? '', /Unable to contact slurm controller/);
  }
  place.cancel = { code: 0, output: '' };
  place.jobs = [];
  await place.after(1500);
  assert.equal(place.bench.engine.state.fleets.size, 0);
});
