// The configuration: strict files, old names, and which source wins.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../../src/cli/config/config.ts';
import { KEYS, SEED_KEYS } from '../../../src/cli/config/keys.ts';
import { parseConfig } from '../../../src/cli/config/read-file.ts';
import { formatValue, parseValue } from '../../../src/cli/config/value.ts';
import { runWeft } from '../../../src/cli/main.ts';
import { capture } from './fake-head.ts';

test('every problem of a file is reported, with line, column and the nearest right name', () => {
  const text = 'defualts:\n  cpus: 1\ndefaults: {cpu: 3, time: soon}\nhead: 7\n"x: [\n';
  const { problems } = parseConfig('head:\n  tcik: 1s\n  policy: best\nup.cpus: 0\n', 'weft.yaml');
  assert.deepEqual(problems, [
    { where: 'weft.yaml:2:3', what: "unknown key 'head.tcik'. Did you mean 'head.tick'?" },
    {
      where: 'weft.yaml:3:11',
      what: "head.policy: 'best' is not one of first_fit, fifo, easy, conservative",
    },
    { where: 'weft.yaml:4:10', what: "up.cpus: '0' is too little; at least 1" },
  ]);
  const more = parseConfig(text, 'f').problems.map(({ where }) => where);
  assert.ok(more.includes('f:1:1') && more.includes('f:3:12') && more.includes('f:4:7'), `${more}`);
});

test('a section whose keys are all comments is fine', () => {
  const { problems, values } = parseConfig('head:\n  #tick: 1s\nup:\n  nodes: 3\n', 'f');
  assert.deepEqual([problems, values.get('up.nodes')?.value], [[], 3]);
});

/** The fifteen keys of the seed with its example values, and what they mean here. */
const SEED_VALUES = [
  ['scheduler_lag: 500', 'head.tick', 500],
  ['status_lag: 5000', 'head.heartbeat', 5000],
  ['register_retries: 10', 'join.retries', 10],
  ['register_retry_wait: 5', 'join.retry_wait', 5000],
  ['daemon_port: 5002', 'head.listen', { host: '127.0.0.1', port: 5002 }],
  ['num_cpus_per_child: 4', 'up.cpus', 4],
  ['memory_per_child: 512', 'up.memory', 512 * 1024 ** 2],
  ['num_cpus_per_head: 2', 'head.cpus', 2],
  ['memory_per_head: 512', 'head.memory', 512 * 1024 ** 2],
  ['request_timeout: 250', 'client.timeout', 250],
  ['default_n_nodes: 2', 'defaults.nodes', 2],
  ['default_n_procs: 3', 'defaults.procs', 3],
  ['default_n_cpus_per_node: 1', 'defaults.cpus', 1],
  ['default_mem_per_node: 100', 'defaults.memory', 100 * 1024 ** 2],
  ['default_time_limit: 2', 'defaults.time', 7_200_000],
  ['default_time_limit: 0', 'defaults.time', null],
] as const;

for (const [line, key, value] of SEED_VALUES) {
  test(`the old key in '${line}' is understood with its unit`, () => {
    const { values, problems } = parseConfig(`${line}\n`, 'cm-config.yml');
    assert.deepEqual(problems, []);
    assert.deepEqual(values.get(key)?.value, value);
  });
}

test('old keys all lead to keys that exist', () => {
  const names = new Set(KEYS.map(({ name }) => name));
  for (const { key } of Object.values(SEED_KEYS)) assert.ok(names.has(key), key);
});

test('every default can be read, and reads back as it is shown', () => {
  for (const key of KEYS) {
    if (key.default === null) continue;
    const parsed = parseValue(key, key.default);
    assert.ok(parsed.ok, `${key.name}: ${key.default}`);
    assert.deepEqual(parseValue(key, formatValue(key, parsed.value)), parsed, key.name);
  }
});

test('a flag wins over the environment, that over the file, that over the default', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  try {
    const file = path.join(folder, 'weft.yaml');
    writeFileSync(file, 'up:\n  nodes: 2\n  cpus: 2\n  memory: 2G\n');
    const config = await loadConfig({
      flags: new Map([['up.nodes', { text: '8', flag: '--nodes' }]]),
      environment: { WEFT_UP_NODES: '9', WEFT_UP_CPUS: '9' },
      file: null,
      directory: folder,
    });
    const found = (name: string) => config.all().find(({ key }) => key.name === name);
    assert.deepEqual([found('up.nodes')?.value, found('up.nodes')?.source], [8, '--nodes']);
    assert.deepEqual([found('up.cpus')?.value, found('up.cpus')?.source], [9, 'WEFT_UP_CPUS']);
    assert.equal(found('up.memory')?.source, `${file}:4`);
    assert.equal(found('head.tick')?.source, 'default');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('init writes a file that config check accepts, and never overwrites one', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  const weft = (...argv: string[]) => capture(folder, { program: 'weft', argv }, runWeft);
  try {
    assert.equal((await weft('init', '--name', 'lab', '--listen', '0.0.0.0:5099')).code, 0);
    const checked = await weft('config', 'check', path.join(folder, 'weft.yaml'));
    assert.deepEqual([checked.code, checked.error], [0, '']);
    const shown = await weft('config', 'show', '-o', 'template={{key.name}} {{value}}');
    assert.match(shown.out, /cluster\.name lab\n/);
    assert.match((await weft('init')).error, /exists already/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
