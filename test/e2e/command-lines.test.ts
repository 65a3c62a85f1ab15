// No secret is ever an argument: of whatever head, agents, gateways, launchers, jobs' own helpers,
// workers and notifications start, every command line is looked at.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { connect } from '../../src/library.ts';
import { FakeSite } from '../support/fake-batch/fake-site.ts';
import { installFake } from '../support/fake-batch/install.ts';
import { type Started, spying, startedIn } from './support/command-lines.ts';
import { until } from './support/hosts.ts';
import { SiteWorld, showLogs } from './support/site-world.ts';

/** What a user would not have others read. */
const PASSWORD = 'hush-5e1f0c';
/** On a command line on purpose: the spy must see it. */
const OPEN = 'open-77aa21';

/** Characters of a command line in the words of a failure. */
const SHOWN = 300;

/** It keeps what it is given, which holds the token of a pilot. */
const SBATCH = `#!/bin/sh
cat > "$(dirname "$0")/../script.$$" && mv "$(dirname "$0")/../script.$$" "$(dirname "$0")/../script"
echo 17
`;

describe('[E1] what Weft starts', { timeout: 600_000 }, () => {
  const log = new SiteWorld(() => undefined).at('log');
  const world = new SiteWorld(() => site().endAll(), spying(log));
  const site = (): FakeSite => new FakeSite(world.at('fake', 'state'));
  const path = { PATH: `${world.at('fake', 'bin')}:${process.env.PATH}` };

  before(async () => {
    mkdirSync(world.at('fake'));
    installFake('pbs', world.at('fake'));
    for (const [name, text] of [
      ['sbatch', SBATCH],
      ['squeue', `#!/bin/sh\necho '{"jobs": []}'\n`],
      ['scancel', '#!/bin/sh\n'],
      ['tell', `#!/bin/sh\nexec cat > ${world.at('told')}\n`],
    ] as const) {
      writeFileSync(world.at('fake', 'bin', name), text);
      chmodSync(world.at('fake', 'bin', name), 0o755);
    }
    const tell = `notify:\n  commands:\n    tell: [${world.at('fake/bin/tell')}]\n`;
    process.env.PATH = path.PATH;
    await world.startHead(null, tell);
    await world.addGateway('hpc', { system: 'pbs', poll: '500ms' }, path);
    await world.addNode('h1', 2);
    await world.addNode('h2', 2);
    await world.nodesUp(3, /./);
  });
  afterEach(showLogs(world));
  after(() => world.close(() => Promise.resolve(site().endAll())));

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

  it('shows the variables of no job, on nodes and at sites', async () => {
    const check = 'test -n "$PASSWORD" && test "$PASSWORD" = "$memory"';
    await run('--needs', '!site=hpc', '--notify', 'command:tell', '--', check);
    await run('--needs', 'site=hpc', '--', check);
    await until(
      'the command of the site was told',
      () => existsSync(world.at('told')) || undefined,
    );
    await run('--needs', '!site=hpc', '--', `/bin/true ${OPEN}`);
    assert.ok(
      started().some(({ argv }) => argv.includes(OPEN)),
      'the spy sees what jobs start',
    );
    assert.ok(valuesOf('PASSWORD').includes(PASSWORD), 'and what they are given');
  });

  it('shows the keys of no MPI program and of no pool', async () => {
    const mpi = ['-n', '2', '--mpi', '--needs', '!site=hpc', '--', 'mpirun.openmpi', 'hostname'];
    await run(
      '--env',
      'OMPI_ALLOW_RUN_AS_ROOT=1',
      '--env',
      'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1',
      ...mpi,
    );
    await using cluster = await connect({ socket: world.at('head', 'weft.sock') });
    await using pool = await cluster.pool({ workers: 1, needs: '!site=hpc', env: { PASSWORD } });
    assert.equal(await pool.run((a: number) => a + 1, 1), 2);
    assert.notEqual(valuesOf('WEFT_STEP_KEY').length, 0);
    assert.notEqual(valuesOf('WEFT_CALLS').length, 0);
  });

  it('shows the token of no pilot', async () => {
    // The stand-in lists no pilot: the head may find it ended before the command has its answer.
    const said = await world.weft('pilot', 'start', 'slurm', '-n', '1', '-t', '1h').catch(String);
    assert.match(said, /pilot|listed no more/i);
    await until('it is submitted', () => existsSync(world.at('fake', 'script')) || undefined);
  });

  it('shows nothing of all this on any command line', () => {
    const keys = valuesOf('WEFT_CALLS').map((text) => (JSON.parse(text) as { key: string }).key);
    const pilot = readFileSync(world.at('fake', 'script'), 'utf8');
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
