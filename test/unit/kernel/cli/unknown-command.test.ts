// Words that are no command: what is proposed, and what never is.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { capture } from './fake-head.ts';

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
  assert.equal(await proposed('cancel', '3'), 'weft kill');
  assert.equal(await proposed('scancel', '3'), 'weft kill');
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

test('a slip in an option never leads to what removes or ends anything', async () => {
  const saidOf = async (...argv: string[]) =>
    (await capture(tmpdir(), { program: 'weft', argv }, runWeft)).error;
  assert.equal(await saidOf('down', '--clen'), "weft: unknown option '--clen'\n");
  assert.equal(await saidOf('down', '--no'), "weft: unknown option '--no'\n");
  assert.equal(await saidOf('kill', '--yess', '1'), "weft: unknown option '--yess'\n");
  assert.match(await saidOf('kill', '--min'), /'--min'\. Did you mean --mine\?/);
});
