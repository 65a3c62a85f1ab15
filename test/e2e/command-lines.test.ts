// No secret is ever an argument: of whatever head, agents, gateways, launchers, builds, containers,
// jobs' own helpers, workers and notifications start, every command line is looked at.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Slurm, startSlurm } from '../../bench/mix/slurm.ts';
import { connect } from '../../src/library.ts';
import { DIALECTS } from '../support/fake-batch/dialects.ts';
import { FakeSite } from '../support/fake-batch/fake-site.ts';
import { fakeKeys, installFake } from '../support/fake-batch/install.ts';
import { type Started, spying, startedIn } from './support/command-lines.ts';
import { ask, saveImage, whyNoEngines } from './support/container-engines.ts';
import { type EnginesOnPath, startEngines } from './support/engines-on-path.ts';
import { until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';
import { withoutSlurm } from './support/steered.ts';

/** What a user would not have others read. */
const PASSWORD = 'hush-5e1f0c';
/** On a command line on purpose: the spy must see it. */
const OPEN = 'open-77aa21';
/** What was given is there. Scripts of sites had a variable of the second name once. */
const CHECK = 'test -n "$PASSWORD"';
const CHECK_BOTH = `${CHECK} && test "$PASSWORD" = "$memory"`;

/** Characters of a command line in the words of a failure. */
const SHOWN = 300;

/** Keeps what it is given, which holds the token of a pilot. */
const SBATCH = `#!/bin/sh
cat > "$(dirname "$0")/../script.$$" && mv "$(dirname "$0")/../script.$$" "$(dirname "$0")/../script"
echo 17
`;

describe('[E1] what Weft starts', { timeout: 900_000 }, () => {
  const log = new SiteWorld(() => undefined).at('log');
  const endSites = (): undefined => {
    for (const system of Object.keys(DIALECTS))
      new FakeSite(world.at(`fake-${system}`, 'state')).endAll();
    return undefined;
  };
  const world = new SiteWorld(endSites, spying(log));
  let containers: EnginesOnPath | undefined;

  before(async () => {
    const tell = `notify:\n  commands:\n    tell: [${world.at('head-bin/tell')}]\n`;
    mkdirSync(world.at('head-bin'));
    for (const [name, text] of [
      ['sbatch', SBATCH],
      ['squeue', `#!/bin/sh\necho '{"jobs": []}'\n`],
      ['scancel', '#!/bin/sh\n'],
      ['tell', `#!/bin/sh\nexec cat > ${world.at('told')}\n`],
    ] as const) {
      writeFileSync(world.at('head-bin', name), text);
      chmodSync(world.at('head-bin', name), 0o755);
    }
    const { PATH } = process.env;
    process.env.PATH = `${world.at('head-bin')}:${PATH}`;
    await world.startHead(null, tell);
    process.env.PATH = PATH;
    if (whyNoEngines() === false) containers = await startEngines(world.at('engines'));
    const usual = '/usr/local/bin:/usr/bin:/bin';
    const path = containers === undefined ? usual : `${containers.folder}:${usual}`;
    await world.addNode('h1', 2, { WEFT_NODE_PATH: path });
    await world.addNode('h2', 2, { WEFT_NODE_PATH: path });
    await world.nodesUp(2, /^h\d$/);
  });
  afterEach(showLogs(world));
  after(() =>
    world.close(async () => {
      endSites();
      await containers?.close();
    }),
  );

  const run = (...args: string[]): Promise<string> => {
    const variables = ['PASSWORD', 'memory', 'code'].map((name) => `${name}=${PASSWORD}`);
    return world.weft('run', '--wait', ...variables.flatMap((one) => ['--env', one]), ...args);
  };
  const started = (): Started[] => startedIn(log);
  /** The values that a variable had, wherever some program was given it. */
  const valuesOf = (name: string): string[] => {
    const entries = started().flatMap(({ environment }) => environment);
    const found = entries.filter((entry) => entry.startsWith(`${name}=`));
    return [...new Set(found.map((entry) => entry.slice(name.length + 1)))];
  };
  /** Whether some program whose command line fits was given the password. */
  const hasIt = (words: RegExp): boolean =>
    started().some(
      ({ argv, environment }) =>
        words.test(argv.join(' ')) && environment.includes(`PASSWORD=${PASSWORD}`),
    );
  const batch = async (name: string, solver: string, job: string): Promise<void> => {
    const file = world.at(`${name}.yaml`);
    const lines = ['namespace: lab', `name: ${name}`, `solver: ${solver}`, `jobs: [${job}]`];
    writeFileSync(file, `${lines.join('\n')}\nenv: {PASSWORD: ${PASSWORD}}\n`);
    await world.weft('batch', 'submit', '--wait', file);
  };

  it('shows the variables of no job on nodes', async () => {
    await run('--notify', 'command:tell', '--', CHECK_BOTH);
    await until('the command was told', () => existsSync(world.at('told')) || undefined);
    await run('--', `/bin/true ${OPEN}`);
    assert.ok(
      started().some(({ argv }) => argv.includes(OPEN)),
      'the spy sees what jobs start',
    );
    assert.ok(valuesOf('PASSWORD').includes(PASSWORD), 'and what they are given');
  });

  it('shows the keys of no MPI program and of no pool', async () => {
    const asRoot = ['OMPI_ALLOW_RUN_AS_ROOT', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM'];
    const env = asRoot.flatMap((name) => ['--env', `${name}=1`]);
    await run(...env, '-n', '2', '--mpi', '--', 'mpirun.openmpi', 'hostname');
    await using cluster = await connect({ socket: world.at('head', 'weft.sock') });
    await using pool = await cluster.pool({ workers: 1, env: { PASSWORD } });
    assert.equal(await pool.run((a: number) => a + 1, 1), 2);
    assert.notEqual(valuesOf('WEFT_STEP_KEY').length, 0);
    assert.notEqual(valuesOf('WEFT_CALLS').length, 0);
  });

  it('shows the variables of no batch: neither of its build nor of its jobs', async () => {
    for (const name of ['build.sh', 'job.sh']) {
      writeFileSync(world.at(name), `#!/bin/sh\n${CHECK} && exec /bin/true of-${name}\n`);
      chmodSync(world.at(name), 0o755);
    }
    await batch('built', '{build: build.sh}', '{name: a, run: job.sh, cpus: 1}');
    assert.ok(hasIt(/of-build\.sh/), 'the build was given it');
    assert.ok(hasIt(/of-job\.sh/), 'the job was given it');
  });

  for (const kind of ['docker', 'podman'] as const) {
    it(`shows the variables of no container of ${kind}`, { skip: whyNoEngines() }, async () => {
      const engine = containers?.engines[kind] ?? assert.fail('no engine');
      const program = `#!/bin/sh\n${CHECK}\n`;
      await saveImage(engine, { folder: world.directory, program, name: 'solver:1' });
      await batch(`in-${kind}`, `{${kind}: ${kind}.tar}`, '{name: a, cpus: 1}');
      assert.ok(hasIt(new RegExp(`${kind} run .* --env PASSWORD `)), 'the engine was given it');
      // It is no image of Node: a worker's start is all that is looked at.
      await ask(engine, 'load', '--input', world.at(`${kind}.tar`));
      const pool = ['-n', '1', '--private', '--image', 'solver:1', '--engine', kind];
      await world.weft('pool', 'start', '--name', kind, ...pool, '--env', `PASSWORD=${PASSWORD}`);
      const start = new RegExp(`${kind} run .* --entrypoint node .* --env WEFT_CALLS `);
      await until('a worker was started', () => hasIt(start) || undefined);
      await world.weft('pool', 'stop', kind);
    });
  }

  it('shows the token of no pilot', async () => {
    // The stand-in lists no pilot: the head may find it ended before the command has its answer.
    const said = await world.weft('pilot', 'start', 'slurm', '-n', '1', '-t', '1h').catch(String);
    assert.match(said, /pilot|listed no more/i);
    await until('it is submitted', () => existsSync(world.at('script')) || undefined);
  });

  for (const system of Object.keys(DIALECTS)) {
    it(`shows the variables of no job at a site of ${system}`, async () => {
      const fake = world.at(`fake-${system}`);
      mkdirSync(fake);
      const path = { PATH: `${installFake(system, fake)}:${process.env.PATH}` };
      await world.addGateway(system, fakeKeys(system, fake), path);
      await world.nodesUp(1, new RegExp(`^${system}$`));
      await run('--needs', `site=${system}`, '--', `${CHECK_BOTH} && /bin/true at-${system}`);
      assert.ok(hasIt(new RegExp(`^/bin/true at-${system}$`)), 'it was given it there');
      await world.end(system, 'SIGTERM');
    });
  }

  it('shows the variables of no job to a real Slurm', { skip: withoutSlurm }, async () => {
    const slurm: Slurm = await startSlurm(1, 2, 'batch_sched_delay=0,sched_interval=5');
    try {
      await world.addGateway('slurm', { system: 'slurm', poll: '500ms' }, slurm.environment);
      await world.nodesUp(1, /^slurm$/);
      await run('--needs', 'site=slurm', '--', CHECK_BOTH);
      await world.end('slurm', 'SIGTERM');
    } finally {
      await slurm.stop();
    }
  });

  it('shows nothing of all this on any command line', () => {
    const keys = valuesOf('WEFT_CALLS').map((text) => (JSON.parse(text) as { key: string }).key);
    const pilot = readFileSync(world.at('script'), 'utf8');
    const [, ticket = ''] = /^ticket=weft-join:(\S+)$/m.exec(pilot) ?? [];
    const secrets = [PASSWORD, ...valuesOf('WEFT_STEP_KEY'), ...keys, ticket];
    assert.ok(secrets.every((secret) => secret.length >= PASSWORD.length));
    const shown = started().filter(({ argv }) =>
      argv.some((word) => secrets.some((secret) => word.includes(secret))),
    );
    assert.deepEqual(
      shown.map(({ argv }) => argv.join(' ').slice(0, SHOWN)),
      [],
    );
  });
});
