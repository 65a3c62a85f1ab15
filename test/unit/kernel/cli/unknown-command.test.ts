// Words that are no command: what is proposed, and what never is.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { capture } from './fake-head.ts';

async function saidOf(...argv: string[]): Promise<string> {
  return (await capture(tmpdir(), { program: 'weft', argv }, runWeft)).error;
}

async function proposed(...argv: string[]): Promise<string | null> {
  const { error, code } = await capture(tmpdir(), { program: 'weft', argv }, runWeft);
  assert.equal(code, 2, error);
  return /Did you mean '(.*)'\?/.exec(error)?.[1] ?? null;
}

test('words of other systems name our command', async () => {
  assert.equal(await proposed('queue'), 'weft jobs');
  assert.equal(await proposed('squeue'), 'weft jobs');
  assert.equal(await proposed('qstat'), 'weft jobs');
  assert.equal(await proposed('ps'), 'weft jobs');
  assert.equal(await proposed('sbatch', 'x.sh'), 'weft submit');
  assert.equal(await proposed('qsub'), 'weft submit');
  assert.equal(await proposed('scancel', '3'), 'weft cancel');
  assert.equal(await proposed('node', 'resume', 'n1'), 'weft node undrain');
  assert.equal(await proposed('batch', 'kill', 'lab/x'), 'weft batch cancel');
  assert.match(await saidOf('stop'), /`weft cancel JOB` cancels a job, `weft down` stops/);
});

test('a slip of the finger never leads to what ends work', async () => {
  assert.equal(await proposed('requeu', '3'), null);
  assert.equal(await proposed('kil', '3'), null);
  assert.equal(await proposed('dow'), null);
  assert.equal(await proposed('stop'), null);
  assert.equal(await proposed('shutdown'), null);
  assert.equal(await proposed('node', 'remov', 'n1'), null);
  assert.equal(await proposed('jbos'), 'weft jobs');
  assert.equal(await proposed('node', 'lst'), 'weft node list');
});

test('options of other systems name ours, where the command has it', async () => {
  const hints = {
    '--time-limit=1h': '--time',
    '--cpus-per-task': '--cpus',
    '--job-name=x': '--name',
    '--dependency': '--after',
    '-c4': '--cpus',
    '-J': '--name',
    '-N': '--nodes',
    '-a': '--array',
    '-o': '--output',
    '--stdout': '--output',
    '--ntasks-per-node': '--procs',
    '--mem': '--memory',
  };
  for (const [theirs, ours] of Object.entries(hints)) {
    const said = `weft: unknown option '${theirs}'. It is ${ours} here.\n`;
    assert.equal(await saidOf('run', theirs, 'x'), said);
  }
  // Tasks in all, wherever they are: no option of ours says that.
  assert.match(
    await saidOf('run', '--ntasks', '8'),
    /'--ntasks'\. Say nodes, and processes on each/,
  );
  assert.match(await saidOf('submit', '--wrap', 'x'), /'--wrap'\. Give the command to weft run/);
  assert.match(await saidOf('jobs', '--me'), /'--me'\. It is --mine here/);
  assert.equal(
    await saidOf('jobs', '--job-name', 'x'),
    `weft: unknown option '--job-name'. It is --name here.\n`,
  );
  assert.equal(await saidOf('logs', '--stdin', '1'), "weft: unknown option '--stdin'\n");
});

test('what is not near in letters is not proposed', async () => {
  assert.equal(await saidOf('logs', '--tail', '1'), "weft: unknown option '--tail'\n");
  assert.equal(await proposed('undo'), null);
  assert.match(await saidOf('run', '--partitoin', 'x'), /Did you mean --partition\?/);
  assert.match(await saidOf('run', '--reserv', 'x'), /Did you mean --reservation\?/);
});

test('a slip in an option never leads to what removes or ends anything', async () => {
  assert.equal(await saidOf('down', '--clen'), "weft: unknown option '--clen'\n");
  assert.equal(await saidOf('down', '--no'), "weft: unknown option '--no'\n");
  assert.equal(await saidOf('kill', '--yess', '1'), "weft: unknown option '--yess'\n");
  assert.match(await saidOf('kill', '--min'), /'--min'\. Did you mean --mine\?/);
});
