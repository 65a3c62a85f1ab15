// The example of an adaptor, a shell script whose jobs are plain processes, behind a real gateway:
// every end has its evidence, whoever is killed, and no job runs twice.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { until } from './support/hosts.ts';
import { repository, runProgram } from './support/local-cluster.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

const EXAMPLE = join(repository, 'examples/adaptor/processes');

/** Takes the job and is killed before it says so; or says what nobody can read. */
const UNWELL = `#!/bin/sh
if [ "$2" = submit ] && rmdir "$1/dies" 2>/dev/null; then
  ${EXAMPLE} "$@" >/dev/null
  kill -9 $$
fi
if [ "$2" = jobs ] && [ -e "$1/babbles" ]; then
  echo '{"contract":1,"jobs":[{"id":"1","name":"a","owner":"b","state":"Running"}]}'
  exit
fi
exec ${EXAMPLE} "$@"
`;

/** Says of jobs by their names where they are to run, and what of them only it understands. */
const WISHING = `#!/bin/sh
[ "$2" = jobs ] || exec ${EXAMPLE} "$@"
${EXAMPLE} "$@" | sed -e 's/"name":"on-n2"/&,"where":{"only":["n2"]}/g' \\
  -e 's/"name":"gpu"/&,"unplanned":"a gpu (gpu=1)"/g'
`;

interface Job {
  readonly id: string;
  readonly name: string;
  readonly state: string;
}

describe('a script in the place of a batch system', () => {
  const world = new SiteWorld(() => undefined);
  const { weft, at } = { weft: world.weft.bind(world), at: world.at.bind(world) };
  /** An operation, as the script's own user would type it. */
  const typed = async (site: string, operation: string, asked: Record<string, string> = {}) => {
    const env = { ...process.env, ...asked };
    const { code, out, error } = await runProgram([EXAMPLE, at(site), operation], { env });
    assert.equal(code, 0, out + error);
    return JSON.parse(out) as { jobs: Job[]; job: string };
  };
  /** The process group of a job of the site. */
  const group = (job: string) => Number(readFileSync(at('plain', 'jobs', job, 'group'), 'utf8'));

  before(async () => {
    for (const site of ['plain', 'steered']) {
      mkdirSync(at(site));
      writeFileSync(at(site, 'nodes'), 'n1 2\nn2 1\n');
    }
    writeFileSync(at('steered', 'steered'), '');
    writeFileSync(at('program'), UNWELL, { mode: 0o755 });
    writeFileSync(at('wishing'), WISHING, { mode: 0o755 });
    await world.startHead();
    const common = { system: 'script', poll: '500ms' };
    await world.addGateway('hpc', { ...common, program: `${at('program')},${at('plain')}` }, {});
    await world.addGateway(
      'farm',
      { ...common, mode: 'steer', program: `${at('wishing')},${at('steered')}` },
      {},
    );
    await world.nodesUp(3, /^hpc$|^n\d.farm$/);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => undefined));

  it('a job runs there, and its output and exit code come home', async () => {
    const id = await weft('run', '--needs', 'site=hpc', '--', 'echo "on $WEFT_NODELIST"; exit 3');
    assert.equal((await world.tried('wait', id)).code, 3);
    assert.equal(await weft('logs', id), 'on hpc');
    const { jobs } = await typed('plain', 'jobs');
    assert.deepEqual(
      jobs.map(({ state }) => state),
      ['ended'],
    );
  });

  it('a program that is killed between taking a job and saying so makes no second one', async () => {
    mkdirSync(at('plain', 'dies'));
    const id = await weft('run', '--needs', 'site=hpc', '--', `echo ran >> ${at('ran')}`);
    assert.equal((await world.tried('wait', id)).code, 0);
    assert.equal(readdirSync(at('plain')).includes('dies'), false);
    assert.equal(readFileSync(at('ran'), 'utf8'), 'ran\n');
    const { jobs } = await typed('plain', 'jobs');
    assert.equal(new Set(jobs.map(({ name }) => name)).size, jobs.length);
    assert.equal(jobs.length, 2);
  });

  it('a listing that is not as it must be changes nothing, and is told with its place', async () => {
    const line = `until [ -e ${at('go')} ]; do sleep 0.1; done; exit 4`;
    const id = await weft('run', '--needs', 'site=hpc', '--', line);
    await world.become(Number(id), /^running/);
    writeFileSync(at('plain', 'babbles'), '');
    const words = /jobs: \$\.jobs\[0\]\.state is "Running"; expected one of held, waiting/;
    await until('the site says why it cannot be read', async () => {
      return words.test(await weft('site', 'show', 'hpc')) || undefined;
    });
    await world.become(Number(id), /^running/);
    writeFileSync(at('go'), '');
    // Its receipt is the evidence, whatever the listing says.
    assert.equal((await world.tried('wait', id)).code, 4);
    rmSync(at('plain', 'babbles'));
  });

  it('what cancels here ends it there', async () => {
    const id = await weft('run', '--needs', 'site=hpc', '--', 'sleep 600');
    await world.become(Number(id), /^running/);
    await weft('kill', id);
    await world.become(Number(id), /^cancelled/);
    await until('nothing runs at the site', async () => {
      const { jobs } = await typed('plain', 'jobs');
      return jobs.every(({ state }) => state === 'ended') || undefined;
    });
  });

  it('a job of which nobody knows the end is neither ended nor started again', async () => {
    const line = `echo began >> ${at('begun')}; echo $$ > ${at('pid')}; sleep 600`;
    const id = await weft('run', '--needs', 'site=hpc', '--', line);
    const pid = await until('it runs', () => {
      return Number(runs(at('pid'))) || undefined;
    });
    const job = (await typed('plain', 'jobs')).jobs.at(-1)?.id ?? '';
    // All at once, as when the machine loses its memory: whoever runs it, its script, and its
    // program.
    for (const one of [parentOf(group(job)), -group(job), pid]) killIfThere(one);
    await until('the site has lost it', async () => {
      return (await typed('plain', 'jobs')).jobs.at(-1)?.state === 'unknown' || undefined;
    });
    await world.become(Number(id), /^running/);
    await weft('kill', id);
    await world.become(Number(id), /^(cancelled|node_fail|failed)/);
    assert.equal(readFileSync(at('begun'), 'utf8'), 'began\n');
  });

  it('jobs that a user gave to the program start when our plan says so, and where', async () => {
    writeFileSync(at('job.sh'), 'exit 5\n');
    await weft('site', 'pause', 'farm');
    const given = { SITE_NAME: 'local', SITE_SCRIPT_FILE: at('job.sh') };
    const { job } = await typed('steered', 'submit', given);
    const ours = await world.ours(`farm/${job}`);
    assert.equal(ours.state, 'pending');
    await weft('site', 'resume', 'farm');
    const done = await world.become(ours.id, /^failed/);
    assert.deepEqual(done.exit, { code: 5 });
    const id = await weft('run', '--nodes-named', 'n2.farm', '--', 'exit 6');
    assert.equal((await world.tried('wait', id)).code, 6);
    const began = readFileSync(at('steered', 'jobs', String(Number(job) + 1), 'begun'), 'utf8');
    assert.match(began, /^\d+ n2\n$/);
  });

  it('[G16] a job runs where the program says, and what it cannot say holds the job', async () => {
    writeFileSync(at('job.sh'), 'exit 0\n');
    const give = async (name: string) =>
      (await typed('steered', 'submit', { SITE_NAME: name, SITE_SCRIPT_FILE: at('job.sh') })).job;
    for (const there of [await give('on-n2'), await give('on-n2')]) {
      await world.become((await world.ours(`farm/${there}`)).id, /^completed/);
      assert.match(readFileSync(at('steered', 'jobs', there, 'begun'), 'utf8'), /^\d+ n2\n$/);
    }
    const there = await give('gpu');
    const { id } = await world.ours(`farm/${there}`);
    assert.match(await weft('why', String(id)), /a gpu \(gpu=1\), which Weft does not plan/);
    const fixed = at('steered', 'jobs', there, 'fixed');
    writeFileSync(fixed, readFileSync(fixed, 'utf8').replace('"gpu"', '"plain"'));
    await world.become(id, /^completed/);
  });

  it('a program that lacks what steering needs is named at the start of its gateway', async () => {
    await world.end('farm', 'SIGTERM');
    rmSync(at('steered', 'steered'));
    world.startAgain('farm');
    assert.notEqual(await world.exitOf('farm'), 0);
    assert.match(
      world.log('farm'),
      /this is not so: nothing starts by itself. Remedy: touch .*steered/,
    );
  });

  it('`weft site test` tries all that a gateway asks', async () => {
    const words = `${at('program')},${at('plain')}`;
    const env = { ...process.env, WEFT_SITE_SYSTEM: 'script', WEFT_SITE_PROGRAM: words };
    const weftProgram = [process.execPath, join(repository, 'bin/weft.mjs')];
    const said = await runProgram([...weftProgram, 'site', 'test', '--dir', at('hpc')], { env });
    assert.equal(said.code, 0, said.out + said.error);
    assert.match(said.out, /^works {2}list its jobs: \d+ jobs$/m);
    assert.match(said.out, /^works {2}find it by its name: 1 of that name$/m);
    assert.match(said.out, /^works {2}cancel it: cancelled$/m);
  });
});

/** What is in a file; empty: nothing yet. */
function runs(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function parentOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

/** What is of a group that was killed just before may be gone. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
