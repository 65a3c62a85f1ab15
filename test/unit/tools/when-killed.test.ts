// What tests leave behind when they are killed: nothing.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { it } from 'node:test';

const helper = new URL('../../support/when-killed.ts', import.meta.url).href;
const SCRIPT = `
  import { spawn } from 'node:child_process';
  import { endNow, whenKilled } from '${helper}';
  const child = spawn('sleep', ['300']);
  whenKilled(() => { endNow(child.pid, 'SIGKILL'); console.log('ended'); });
  whenKilled(() => { throw new Error('this one cannot'); });
  const forget = whenKilled(() => console.log('forgotten'));
  forget();
  console.log(child.pid);
`;

it('a killed test process ends what it started, the youngest first, and says what it could not', async () => {
  const args = ['--input-type=module-typescript', '-e', SCRIPT];
  const test = spawn(process.execPath, args, { stdio: 'pipe' });
  const said = Promise.all([text(test.stderr), once(test, 'close')]);
  let out = '';
  test.stdout.on('data', (piece: Buffer) => {
    out += piece.toString();
  });
  await once(test.stdout, 'data');
  test.kill('SIGTERM');
  const [errors, [code]] = await said;
  assert.match(out, /^\d+\nended\n$/);
  assert.match(errors, /this one cannot/);
  assert.equal(code, 128 + 15);
  assert.equal(commandLine(Number(out.split('\n')[0])), '', 'the child is gone');
});

/** Empty also for a zombie that its new parent has not looked at yet. */
function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
