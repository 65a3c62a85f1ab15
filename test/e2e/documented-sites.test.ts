// Systems of which only documents are there: each is played by programs that speak its forms and
// run its jobs as processes. A gateway gives it a job, and the job's output and end come home.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { DIALECTS } from '../support/fake-batch/dialects.ts';
import { FakeSite } from '../support/fake-batch/fake-site.ts';
import { fakeKeys, installFake } from '../support/fake-batch/install.ts';
import { until } from './support/hosts.ts';
import { cleanEnvironment, repository, runProgram } from './support/local-cluster.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const PROGRAM = [process.execPath, join(repository, 'bin/weft.mjs')];

describe('systems that are known by their documents', () => {
  const world = new SiteWorld(() => undefined);
  const fakeOf = (system: string): FakeSite => new FakeSite(world.at(`fake-${system}`, 'state'));
  const pathOf = (system: string): NodeJS.ProcessEnv => ({
    PATH: `${world.at(`fake-${system}`, 'bin')}:${process.env.PATH}`,
  });
  const keysOf = (system: string) => fakeKeys(system, world.at(`fake-${system}`));

  before(async () => {
    await world.startHead();
  });
  afterEach(showLogs(world));
  after(() =>
    world.close(() => {
      for (const system of Object.keys(DIALECTS)) fakeOf(system).endAll();
      return undefined;
    }),
  );

  for (const system of Object.keys(DIALECTS)) {
    describe(system, () => {
      // Each look at such a system starts several programs of Node: one gateway at a time.
      before(async () => {
        mkdirSync(world.at(`fake-${system}`));
        installFake(system, world.at(`fake-${system}`));
        await world.addGateway(system, keysOf(system), pathOf(system));
        await world.nodesUp(1, new RegExp(`^${system}$`));
      });
      after(() => world.end(system, 'SIGTERM'));

      it('a job runs, and its output and exit code come home', async () => {
        const line = 'echo "hello from $WEFT_JOB_ID"; exit 3';
        const id = await world.weft('run', '--needs', `site=${system}`, '--', line);
        const { code, out, error } = await world.tried('wait', id);
        assert.equal(code, 3, out + error);
        assert.equal(await world.weft('logs', id), `hello from ${id}`);
        assert.deepEqual(
          fakeOf(system)
            .jobs()
            .map((job) => job.code),
          [3],
        );
      });

      it('a job that is cancelled is ended there', async () => {
        const id = await world.weft('run', '--needs', `site=${system}`, '--', 'sleep 600');
        await world.become(Number(id), /^running/);
        await world.weft('kill', id);
        await until('it is cancelled there', () =>
          Promise.resolve(fakeOf(system).jobs().at(-1)?.isCancelled || undefined),
        );
        await world.become(Number(id), /^cancelled/);
      });

      it('every operation is tried, and works', async () => {
        const keys = Object.entries(keysOf(system)).map(([key, value]) => [
          `WEFT_SITE_${key.toUpperCase()}`,
          value,
        ]);
        const env = cleanEnvironment({ ...pathOf(system), ...Object.fromEntries(keys) });
        const said = await runProgram([...PROGRAM, 'site', 'test', '--dir', world.directory], {
          env,
        });
        assert.equal(said.code, 0, said.out + said.error);
        assert.match(said.out, /works +find it by its name: 1 of that name/);
      });
    });
  }
});

describe('PBS under the plan of the head', () => {
  const world = new SiteWorld(() => undefined);
  const top = world.at('fake');
  const site = (): FakeSite => new FakeSite(join(top, 'state'));
  const path = { PATH: `${join(top, 'bin')}:${process.env.PATH}` };

  before(async () => {
    mkdirSync(top);
    installFake('pbs', top);
    site().steer();
    await world.startHead();
    await world.addGateway('farm', { system: 'pbs', mode: 'steer', poll: '500ms' }, path);
    await world.nodesUp(2, /^n\d.farm$/);
  });
  afterEach(showLogs(world));
  after(() => {
    site().endAll();
    return world.close(() => undefined);
  });

  it('a job of ours starts on the node of the plan, and its exit code comes home', async () => {
    const id = await world.weft('run', '--nodes-named', 'n2.farm', '--', 'exit 3');
    const { code, out, error } = await world.tried('wait', id);
    assert.equal(code, 3, out + error);
    assert.deepEqual(
      site()
        .jobs()
        .map(({ node, code: exit }) => [node, exit]),
      [['n2', 3]],
    );
  });

  const env = { ...process.env, ...path };
  /** Gives a job to the site, like one of its users; its id there. */
  const give = async (...words: string[]): Promise<string> => {
    const qsub = [join(top, 'bin/qsub'), '-N', 'theirs', '-o', '/dev/null', '-e', '/dev/null'];
    const given = await runProgram([...qsub, ...words], { env, input: 'exit 0\n' });
    assert.equal(given.code, 0, given.error);
    return given.out.trim();
  };

  it('a job that a user gave to PBS waits here, and starts when our plan says so', async () => {
    const job = await world.ours(`farm/${await give()}`);
    await world.become(job.id, /^completed/);
    assert.notEqual(site().jobs().at(-1)?.node, '');
  });

  it('[G16] [G20] a job runs where its user wants it, and is held where that is not planned', async () => {
    const wanted = { 'select=1:ncpus=1:host=n2': 'n2', 'nodes=n1': 'n1', 'nodes=n2': 'n2' };
    const given: [there: string, node: string][] = [];
    for (const [asked, node] of Object.entries(wanted)) given.push([await give('-l', asked), node]);
    for (const [there, node] of given) {
      await world.become((await world.ours(`farm/${there}`)).id, /^completed/);
      assert.equal(site().job(Number.parseInt(there, 10))?.node, node);
    }
    const there = await give('-l', 'select=1:ncpus=1:ngpus=1');
    const job = await world.ours(`farm/${there}`);
    assert.match(
      await world.weft('why', String(job.id)),
      /ngpus=1 \(-l\), which Weft does not plan/,
    );
    const id = Number.parseInt(there, 10);
    const comment = () => site().job(id)?.said.comment;
    await until('its user is told at PBS', () =>
      Promise.resolve(comment()?.startsWith('weft: it asks for ngpus=1 (-l)') || undefined),
    );
    assert.ok(site().say(id, { asked: 'select=1:ncpus=1' }));
    await world.become(job.id, /^completed/);
  });
});
