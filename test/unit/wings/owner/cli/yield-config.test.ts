// `node.yield` in the configuration: what may be written, where a mistake stands, and what an
// agent is told of it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { loadConfig } from '../../../../../src/kernel/config/config.ts';
import { parseConfig } from '../../../../../src/kernel/config/read-file.ts';
import { schemaOf } from '../../../../../src/kernel/config/schema.ts';
import {
  pauseOptions,
  type YieldOptions,
} from '../../../../../src/wings/owner/config/pause-options.ts';
import { WINGS } from '../../../../../src/wings.ts';

const SCHEMA = await schemaOf(WINGS);

const folder = mkdtempSync(path.join(tmpdir(), 'weft-yield-'));
after(() => rmSync(folder, { recursive: true }));
const MINUTE = 60_000;

async function told(
  text: string,
  environment: Record<string, string> = {},
): Promise<YieldOptions | undefined> {
  const file = path.join(folder, 'weft.yaml');
  writeFileSync(file, text);
  const config = await loadConfig({ wings: WINGS, environment, file, directory: folder });
  return pauseOptions(config, { door: '/door' }).pause?.yield;
}

test('[O6] nothing is looked at unless something is set', async () => {
  assert.equal(await told('node:\n  name: n1\n'), undefined);
  assert.equal(await told('node:\n  yield:\n    resume_after: 1m\n'), undefined);
  assert.deepEqual(await told('node: {yield: {sessions: true}}\n'), {
    idleBelowMs: null,
    sessions: true,
    loadAbove: null,
    hours: null,
    resumeAfterMs: 5 * MINUTE,
    vacateAfterMs: 30 * MINUTE,
  });
});

test('[O6] all of it may be written in one line, in a list, or in the environment', async () => {
  const line =
    "node.yield: {idle_below: 5m, load_above: 0.5, hours: 'Mon-Fri 08:00-18:00', vacate_after: none}";
  assert.deepEqual(await told(`${line.replace('node.yield: ', 'node: {yield: ')}}\n`), {
    idleBelowMs: 5 * MINUTE,
    sessions: false,
    loadAbove: 0.5,
    hours: 'Mon-Fri 08:00-18:00',
    resumeAfterMs: 5 * MINUTE,
    vacateAfterMs: null,
  });
  const list = await told("node:\n  yield:\n    hours: ['Mon 08:00-12:00', 'Tue 10:00-11:00']\n");
  assert.equal(list?.hours, 'Mon 08:00-12:00,Tue 10:00-11:00');
  assert.equal((await told('node: {yield: {gpus: true}}\n'))?.gpus, true);
  const given = await told('', { WEFT_NODE_YIELD_IDLE_BELOW: '90s' });
  assert.equal(given?.idleBelowMs, 90_000);
});

test('[O6] each mistake is told with its line and column', () => {
  const text = [
    'node:',
    '  yield:',
    '    idle_bellow: 5m',
    '    load_above: much',
    "    hours: 'Mon-Fry 08:00-18:00'",
    '    resume_after: 5',
    '    sessions: perhaps',
    '',
  ].join('\n');
  assert.deepEqual(
    parseConfig(text, 'weft.yaml', SCHEMA).problems.map(({ where, what }) => `${where}: ${what}`),
    [
      "weft.yaml:3:5: unknown key 'node.yield.idle_bellow'. Did you mean 'node.yield.idle_below'?",
      "weft.yaml:4:17: node.yield.load_above: 'much' is not a number",
      "weft.yaml:5:12: node.yield.hours: 'Mon-Fry 08:00-18:00' has a day that is not one of Mon, Tue, Wed, Thu, Fri, Sat, Sun; write 'Mon-Fri 08:00-18:00', several separated by commas",
      "weft.yaml:6:19: node.yield.resume_after: '5' has no unit; write 90s, 15m, 1h30m, 2d, 01:30:00 or 2-12:00:00",
      "weft.yaml:7:15: node.yield.sessions: 'perhaps' is not true or false",
    ],
  );
  assert.deepEqual(parseConfig('node:\n  yield: 5m\n', 'f', SCHEMA).problems, [
    { where: 'f:2:10', what: 'node.yield: expected a mapping of keys to values' },
  ]);
  assert.deepEqual(parseConfig('node:\n  yield:\n    idle_below: 5s\n', 'f', SCHEMA).problems, [
    {
      where: 'f:3:17',
      what: "node.yield.idle_below: '5s' is too small; it must be at least 10s",
    },
  ]);
});
