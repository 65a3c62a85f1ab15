// docs/migration/distribute.md leaves nothing out: every verb, flag, key and port of the seed is in
// it. Its examples run in test/e2e/distribute.test.ts.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { Command } from 'commander';
import { z } from 'zod';
import { buildVerbs } from '../../../../../src/kernel/cli/main.ts';
import { seedJobsFile, seedNodesFile } from '../../../../../src/wings/batches/api/batch-file.ts';
import { distribute } from '../../../../../src/wings/distribute/cli/distribute.ts';
import { SILENT } from '../../../../../tools/docs/commands.ts';
import { ROOT } from '../../../../../tools/tree.ts';

const PAGE = readFileSync(path.join(ROOT, 'docs', 'migration', 'distribute.md'), 'utf8');

/** What the seed's help lists, verb by verb. */
const SEED_FLAGS: Readonly<Record<string, readonly string[]>> = {
  client: [
    ...['-p', '--transport-port', '-k', '--keepalive-port', '-c', '--cancel-port'],
    ...['-l', '--log-file'],
  ],
  server: [
    ...['--nodes-file', '--save-path', '--temp-dir', '-p', '--port', '-c', '--clean-output'],
    ...['-m', '--matrix-config'],
  ],
  add: ['--ip', '-p', '--port', '-s', '--show-caps', '-d', '--dry'],
  'server-status': ['--ip', '-p', '--port'],
  'node-status': ['--nodes-file'],
  kill: ['--ip', '-p', '--port'],
  pull: [
    ...['--ip', '-d', '--dry', '-s', '--skip-folders', '-p', '--port', '--save-dir'],
    ...['-i', '--include', '-e', '--exclude'],
  ],
  pause: ['--duration'],
  run: ['-s', '--save-dir', '--clean-save'],
  template: ['--output'],
  slurm: ['--cluster-username', '--cluster-address', '--cluster-upload-destination'],
};

const program = buildVerbs({ ...SILENT, program: 'distribute' }, { exitCode: 0 }, distribute);

function flagsOf(command: Command): string[] {
  return command.options.flatMap(({ short, long }) => [short ?? [], long ?? []]).flat();
}

test('the program takes every verb and flag of the seed', () => {
  for (const [name, flags] of Object.entries(SEED_FLAGS)) {
    const command = program.commands.find((one) => one.name() === name);
    assert.ok(command !== undefined, name);
    const taken = flagsOf(command);
    for (const flag of [...flags, '--save-log', '--show-logs']) {
      assert.ok(taken.includes(flag), `${name} ${flag}`);
    }
  }
});

test('the page names every verb and every flag of the program', () => {
  for (const command of program.commands) {
    assert.ok(PAGE.includes(`| \`${command.name()}`), command.name());
    for (const flag of flagsOf(command)) assert.match(PAGE, new RegExp(`[\` ]${flag}[\` ]`), flag);
  }
});

/** Names of all keys in a schema, however deep. */
function keysOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {} } = schema as { properties?: Record<string, unknown> };
  return [...Object.keys(properties), ...Object.values(schema).flatMap(keysOf)];
}

test('the page has every key of the three files, and every port', () => {
  const files = [seedJobsFile, seedNodesFile].map((one) => z.toJSONSchema(one, { io: 'input' }));
  const matrix = ['matrix_username', 'matrix_password', 'homeserver_url', 'matrix_id'];
  const keys = new Set([...files.flatMap(keysOf), ...matrix]);
  assert.ok(keys.has('required_mounts') && keys.has('mem_per_cpu') && keys.has('cancel_port'));
  for (const key of keys) assert.ok(new RegExp(`[\`.]${key}[\`.[]`).test(PAGE), key);
  for (const port of [8952, 8953, 8954, 8955]) assert.ok(PAGE.includes(` ${port}`), `${port}`);
});
