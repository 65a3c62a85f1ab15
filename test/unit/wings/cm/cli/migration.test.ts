// docs/migration/cm.md leaves nothing out: every flag, key and word of the seed's programs is in
// it, with the defaults that really hold. Its examples run in test/e2e/migration.test.ts.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Command } from 'commander';
import { loadConfig } from '../../../../../src/kernel/config/config.ts';
import { SEED_DEFAULTS, SEED_KEYS } from '../../../../../src/kernel/config/keys.ts';
import { formatValue } from '../../../../../src/kernel/config/value.ts';
import { OUTCOMES } from '../../../../../src/kernel/model/job.ts';
import * as cmconfigure from '../../../../../src/wings/cm/cli/cmconfigure.ts';
import * as cmdaemon from '../../../../../src/wings/cm/cli/cmdaemon.ts';
import * as cminfo from '../../../../../src/wings/cm/cli/cminfo.ts';
import * as cmkill from '../../../../../src/wings/cm/cli/cmkill.ts';
import * as cmrun from '../../../../../src/wings/cm/cli/cmrun.ts';
import { jobStatus } from '../../../../../src/wings/cm/cli/job-words.ts';
import { WINGS } from '../../../../../src/wings.ts';
import { doneJob } from '../../../kernel/cli/views.ts';

const PAGE = readFileSync(
  path.resolve(import.meta.dirname, '../../../../../docs/migration/cm.md'),
  'utf8',
);

test('the page names every flag of the programs', () => {
  for (const { verb } of [cmconfigure, cmdaemon, cminfo, cmkill, cmrun]) {
    const command = new Command();
    verb.define(command);
    for (const { short, long } of command.options) {
      for (const flag of [short, long]) {
        if (flag) assert.ok(PAGE.includes(`\`${flag}\``), flag);
      }
    }
  }
});

test('the page has every old key, what it is now, and the defaults with and without a file', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  const file = path.join(folder, 'cm-config.yml');
  try {
    writeFileSync(file, '');
    const config = await loadConfig({ wings: WINGS, environment: {}, file, directory: folder });
    for (const [name, { key }] of Object.entries(SEED_KEYS)) {
      assert.ok(PAGE.includes(`\`${name}\``), name);
      const row = PAGE.split('\n').find((line) => line.includes(`| \`${key}\` |`)) ?? '';
      const cells = row.split('|').map((cell) => cell.trim());
      const { key: found, value } = config.all().find((one) => one.key.name === key) ?? {};
      assert.ok(found !== undefined, key);
      assert.equal(cells[3], `\`${formatValue(found, value ?? null)}\``, name);
      const plain = found.default === null ? cells[4] : `\`${found.default}\``;
      assert.equal(cells[4], plain, `${name} without a cm-config.yml`);
    }
    for (const key of Object.keys(SEED_DEFAULTS)) assert.ok(PAGE.includes(`\`${key}`), key);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the page has every word for the end of a job that a cm user can see', () => {
  // Jobs that build or stage, or are given up before they start, are none that cm had.
  const foreign = ['build_failed', 'stage_failed', 'deadline'];
  for (const kind of OUTCOMES.filter((outcome) => !foreign.includes(outcome))) {
    const word = jobStatus(doneJob(kind), new Set());
    assert.match(PAGE, new RegExp(`\`${word}( \\(3\\))?\``), word);
  }
});
