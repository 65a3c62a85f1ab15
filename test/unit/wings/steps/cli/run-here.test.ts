// A command that runs here while nodes are held, and whoever holds them is killed.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

const RUN_HERE = new URL('../../../../../src/wings/steps/cli/run-here.ts', import.meta.url);
/** Holds nodes for this command, as `weft alloc` does. */
const HOLDER = `
import { runHere } from ${JSON.stringify(RUN_HERE.href)};
const context = { environment: process.env, note: console.error };
const held = { id: '7', nodes: ['n1'], lost: new Promise(() => undefined) };
process.exitCode = await runHere(context, process.argv.slice(1), held);
`;

function hold(line: string) {
  const argv = ['--input-type=module', '-e', HOLDER, '--', 'sh', '-c', line];
  return spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** An end that never comes is a failure, not a wait. */
const LIMIT = { timeout: 60_000 };

test('[Z8] a command is hung up when whoever holds its nodes is killed', LIMIT, async () => {
  // Killed between the start of the command and that of the watch, nobody would hang it up.
  const watched = '[ $(grep -sl "^PPid:.$PPID$" /proc/[0-9]*/status | wc -l) -gt 1 ]';
  const holder = hold(
    `trap "echo hung up; exit" HUP; until ${watched}; do sleep 0.02; done
    echo $$; while :; do sleep 0.05; done`,
  );
  let out = '';
  holder.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    if (/^\d+\n$/.test(out)) holder.kill('SIGKILL');
  });
  await once(holder, 'close');
  const [pid = '', words] = out.split('\n');
  assert.equal(words, 'hung up');
  while (existsSync(`/proc/${pid}`)) await sleep(10);
});

test('[Z8] one that ends by itself ends whoever holds its nodes with its code', LIMIT, async () => {
  const holder = hold('exit 3');
  holder.stdout.resume();
  const [code] = await once(holder, 'close');
  assert.equal(code, 3);
});
