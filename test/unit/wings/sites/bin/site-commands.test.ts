// What the commands of each system of a site get of its gateway's variables.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { SITE_SYSTEMS, type SiteSystem } from '../../../../../src/kernel/model/site.ts';
import { adaptorOf } from '../../../../../src/wings/sites/bin/site-adaptors.ts';
import { siteCommands } from '../../../../../src/wings/sites/bin/site-commands.ts';
import { runSiteCommand } from '../../../../../src/wings/sites/fabric/site/command.ts';
import { siteOptions } from '../../../bin/support/site-options.ts';

const SECRETS = { WEFT_TOKEN: 'secret', AWS_SECRET_ACCESS_KEY: 'secret' };
/** Variables that would say what is asked of a site, or how it answers. */
const WORDS = { SBATCH_EXPORT: 'NONE', SLURM_JOB_ID: '1', SQUEUE_FORMAT: '%i', BASH_ENV: '/x' };
const PLACES: Partial<Record<SiteSystem, string>> = {
  slurm: 'SLURM_CONF',
  sge: 'SGE_ROOT',
  oar: 'OARCONFFILE',
  pbs: 'PBS_CONF_FILE',
  htcondor: '_CONDOR_SCHEDD_HOST',
  lsf: 'LSF_ENVDIR',
};

let kept: NodeJS.ProcessEnv;
before(() => {
  kept = { ...process.env };
  Object.assign(process.env, { ...SECRETS, ...WORDS, HOME: '/h', SSH_AUTH_SOCK: '/s' });
  for (const name of Object.values(PLACES)) process.env[name] = '/place';
});
after(() => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, kept);
});

async function variablesOf(system: SiteSystem, words: readonly string[]): Promise<Set<string>> {
  const commands = siteCommands(adaptorOf(siteOptions({ system })), words);
  const how = { before: words, timeoutMs: 60_000, user: null };
  const { stdout } = await runSiteCommand(commands, { argv: ['env'] }, how);
  return new Set(stdout.split('\n').flatMap((line) => line.split('=')[0] || []));
}

test('commands find their system, and get no secret and no word of the gateway', async () => {
  for (const [system, place] of Object.entries(PLACES)) {
    const seen = await variablesOf(system as SiteSystem, []);
    for (const name of ['PATH', 'HOME', 'LC_ALL', 'TZ', place]) {
      assert.ok(seen.has(name), `${system}: ${name}`);
    }
    const others = [...Object.values(PLACES).filter((name) => name !== place), 'SSH_AUTH_SOCK'];
    for (const name of [...others, ...Object.keys({ ...SECRETS, ...WORDS })]) {
      assert.ok(!seen.has(name), `${system}: ${name}`);
    }
  }
});

test('a program of the operator gets all but what is of Weft', async () => {
  const seen = await variablesOf('script', []);
  assert.ok(seen.has('AWS_SECRET_ACCESS_KEY'));
  for (const system of SITE_SYSTEMS) {
    assert.ok(!(await variablesOf(system, [])).has('WEFT_TOKEN'), system);
  }
});

test('words before the commands, like ssh, find the keys of the account', async () => {
  assert.ok((await variablesOf('slurm', ['env'])).has('SSH_AUTH_SOCK'));
});
