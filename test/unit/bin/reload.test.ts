// Reading the configuration again: what changes, what waits for a restart, and what is not taken.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import type { HeadOptions } from '../../../src/bin/head-options.ts';
import { reloadOf } from '../../../src/bin/reload.ts';
import { writtenOf } from '../../../src/kernel/config/compare.ts';
import { loadConfig } from '../../../src/kernel/config/config.ts';
import type { Head } from '../../../src/kernel/head/head.ts';
import type { Settings } from '../../../src/kernel/model/settings.ts';
import { WINGS } from '../../../src/wings.ts';
import { KeptLog } from '../kernel/head/http/fixture.ts';

/** A head that only notes what it is told, and its file. */
async function start(t: TestContext, text: string) {
  const directory = mkdtempSync(path.join(tmpdir(), 'weft-reload-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'weft.yaml');
  const write = (now: string): void => writeFileSync(file, now);
  write(text);
  const flags = [['head.tick', { text: '2s', flag: '--tick' }]] as const;
  const sources = { flags: new Map(flags), environment: process.env, file, directory };
  const written = writtenOf(await loadConfig({ ...sources, wings: WINGS }));
  const told: Settings[] = [];
  const head = { change: ({ settings }) => told.push(settings) } as Pick<Head, 'change'>;
  const options = { config: { file, directory, flags, written } } as unknown as HeadOptions;
  const log = new KeptLog();
  const wings = { reread: () => () => undefined };
  return { write, told, log, reload: reloadOf(options, { head: head as Head, wings }, log) };
}

test('[P8] what may change is in force, and what may not is told until the restart', async (t) => {
  const { write, told, reload } = await start(t, 'head: {policy: fifo}\n');
  write('head: {policy: easy, tick: 5s, log_limit: 1M}\n');
  const reply = await reload();
  assert.ok(reply.ok);
  const { changed, afterRestart } = reply.value;
  assert.deepEqual(changed, [{ key: 'head.policy', before: 'fifo', after: 'easy' }]);
  // The flag of the start still wins over the file.
  assert.deepEqual(afterRestart, [{ key: 'head.log_limit', before: '64M', after: '1M' }]);
  assert.equal(told[0]?.scheduling.partitions['default']?.policy, 'easy');
  const again = await reload();
  assert.deepEqual(again.ok && [again.value.changed, again.value.afterRestart], [[], afterRestart]);
});

const WRONG = [
  'head: {policy: best}',
  'partitions: {gpu: {labels: "a &"}}',
  'fence: {command: "true"}',
  '[',
];

for (const text of WRONG) {
  test(`[P8] nothing changes when the file says ${text}`, async (t) => {
    const { write, told, log, reload } = await start(t, 'head: {policy: fifo}\n');
    write(`up: {nodes: 2}\n${text}\n`);
    const reply = await reload();
    assert.equal(reply.ok ? '' : reply.error.code, 'config.not_taken');
    assert.deepEqual(told, []);
    assert.equal(log.lines.filter(({ level }) => level === 'warn').length, 1);
  });
}
