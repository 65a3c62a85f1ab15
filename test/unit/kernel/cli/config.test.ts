// The configuration: strict files, old names, and which source wins.

import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { nextSteps } from '../../../../src/kernel/cli/commands/init.ts';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { loadConfig } from '../../../../src/kernel/config/config.ts';
import { SEED_KEYS } from '../../../../src/kernel/config/keys.ts';
import { parseConfig } from '../../../../src/kernel/config/read-file.ts';
import { schedulingFrom } from '../../../../src/kernel/config/scheduling.ts';
import { schemaOf } from '../../../../src/kernel/config/schema.ts';
import { formatValue, parseValue } from '../../../../src/kernel/config/value.ts';
import { WINGS } from '../../../../src/wings.ts';
import { capture } from './fake-head.ts';

const SCHEMA = await schemaOf(WINGS);

test('every problem of a file is reported, with line, column and the nearest right name', () => {
  const text = 'defualts:\n  cpus: 1\ndefaults: {cpu: 3, time: soon}\nhead: 7\n"x: [\n';
  const { problems } = parseConfig(
    'head:\n  tcik: 1s\n  policy: best\nup.cpus: 0\n',
    'weft.yaml',
    SCHEMA,
  );
  assert.deepEqual(problems, [
    { where: 'weft.yaml:2:3', what: "unknown key 'head.tcik'. Did you mean 'head.tick'?" },
    {
      where: 'weft.yaml:3:11',
      what: "head.policy: 'best' is not one of first_fit, fifo, easy, conservative",
    },
    { where: 'weft.yaml:4:10', what: "up.cpus: '0' is too small; it must be at least 1" },
  ]);
  const more = parseConfig(text, 'f', SCHEMA).problems.map(({ where }) => where);
  assert.ok(more.includes('f:1:1') && more.includes('f:3:12') && more.includes('f:4:7'), `${more}`);
});

test('a section whose keys are all comments is fine', () => {
  const { problems, values } = parseConfig('head:\n  #tick: 1s\nup:\n  nodes: 3\n', 'f', SCHEMA);
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
  ['request_timeout: 100', 'client.timeout', 5000],
  ['request_timeout: 6000', 'client.timeout', 6000],
  ['default_n_nodes: 2', 'defaults.nodes', 2],
  ['default_n_procs: 3', 'defaults.procs', 3],
  ['default_n_cpus_per_node: 1', 'defaults.cpus', 1],
  ['default_mem_per_node: 100', 'defaults.memory', 100 * 1024 ** 2],
  ['default_time_limit: 2', 'defaults.time', 7_200_000],
  ['default_time_limit: 0', 'defaults.time', null],
] as const;

for (const [line, key, value] of SEED_VALUES) {
  test(`the old key in '${line}' is understood with its unit`, () => {
    const { values, problems } = parseConfig(`${line}\n`, 'cm-config.yml', SCHEMA);
    assert.deepEqual(problems, []);
    assert.deepEqual(values.get(key)?.value, value);
  });
}

test('old keys all lead to keys that exist', () => {
  const names = new Set(SCHEMA.keys.map(({ name }) => name));
  for (const { key } of Object.values(SEED_KEYS)) assert.ok(names.has(key), key);
});

test('every default can be read, and reads back as it is shown', () => {
  for (const key of SCHEMA.keys) {
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
      wings: WINGS,
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

test('nobody starves by default; an old cm-config.yml keeps the old order of starts', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  const load = (environment: Record<string, string>) =>
    loadConfig({ wings: WINGS, environment, file: null, directory: folder });
  try {
    const plain = schedulingFrom(await load({ HOME: folder, XDG_CONFIG_HOME: folder }));
    assert.equal(plain.partitions['default']?.policy, 'easy');
    mkdirSync(path.join(folder, 'etc'));
    const file = path.join(folder, 'etc', 'cm-config.yml');
    writeFileSync(file, 'num_cpus_per_child: 2\n');
    const old = await load({ XDG_CONFIG_HOME: folder, CM_PATH: folder });
    assert.equal(schedulingFrom(old).partitions['default']?.policy, 'first_fit');
    const { source } = old.all().find(({ key }) => key.name === 'head.policy') ?? {};
    assert.equal(source, 'default with a cm-config.yml');
    writeFileSync(file, 'head.policy: fifo\n');
    const chosen = await load({ XDG_CONFIG_HOME: folder, CM_PATH: folder });
    assert.equal(schedulingFrom(chosen).partitions['default']?.policy, 'fifo');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a cm-config.yml is read beside a weft.yaml, and holds where that is silent', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  const environment = { XDG_CONFIG_HOME: folder, CM_PATH: path.join(folder, 'cm') };
  const load = () => loadConfig({ wings: WINGS, environment, file: null, directory: folder });
  const own = path.join(folder, 'weft.yaml');
  const old = path.join(folder, 'cm', 'etc', 'cm-config.yml');
  try {
    writeFileSync(own, 'up.nodes: 7\n');
    await assert.rejects(load, /CM_PATH: there is no .*cm-config\.yml/);
    mkdirSync(path.dirname(old), { recursive: true });
    writeFileSync(old, 'default_n_procs: 3\nnum_cpus_per_child: 5\nup.nodes: 9\n');
    const config = await load();
    assert.equal(config.file, `${own} and ${old}`);
    const shown = (name: string) => {
      const { value, source } = config.all().find(({ key }) => key.name === name) ?? {};
      return [value, source];
    };
    assert.deepEqual(shown('up.nodes'), [7, `${own}:1`]);
    assert.deepEqual(shown('defaults.procs'), [3, `${old}:1 (default_n_procs)`]);
    assert.deepEqual(shown('up.memory'), [512 * 2 ** 20, 'default with a cm-config.yml']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("beside a cm-config.yml all of cm's settings have its defaults, but for the time-out", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  const file = path.join(folder, 'cm-config.yml');
  try {
    writeFileSync(file, '');
    const config = await loadConfig({ wings: WINGS, environment: {}, file, directory: folder });
    const found = Object.keys(CM_DEFAULTS).map((name) => {
      const { key } = SEED_KEYS[name] ?? { key: '' };
      return [name, config.get(key)] as const;
    });
    assert.deepEqual(Object.fromEntries(found), { ...CM_DEFAULTS, request_timeout: 30_000 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** The defaults of cm, in our units. */
const CM_DEFAULTS = {
  scheduler_lag: 1000,
  status_lag: 5000,
  register_retries: 10,
  register_retry_wait: 5000,
  daemon_port: { host: '127.0.0.1', port: 5001 },
  num_cpus_per_child: 2,
  memory_per_child: 512 * 2 ** 20,
  num_cpus_per_head: 2,
  memory_per_head: 512 * 2 ** 20,
  request_timeout: 100,
  default_n_nodes: 1,
  default_n_procs: 1,
  default_n_cpus_per_node: 1,
  default_mem_per_node: 100 * 2 ** 20,
  default_time_limit: null,
};

test('init names the directory to the commands that look there, and no others', () => {
  const typed = (directory: string, dir: string) =>
    nextSteps(directory, dir).map(([command]) => command);
  const elsewhere = typed('/srv/lab', ' --dir /srv/lab');
  assert.deepEqual(elsewhere.slice(0, 2), [
    'weft head --dir /srv/lab',
    'weft token join --dir /srv/lab',
  ]);
  // Of a service the socket is the machine's: with --dir nobody would find it.
  const service = typed('/var/lib/weft', ' --dir /var/lib/weft');
  assert.deepEqual(service.slice(0, 2), ['WEFT_DIR=/var/lib/weft weft head', 'weft token join']);
  const unit = nextSteps('/var/lib/weft/head', ' --dir /var/lib/weft/head');
  assert.deepEqual(unit.slice(0, 2), [
    [
      'systemctl enable --now weft-head',
      'here; without systemd: WEFT_DIR=/var/lib/weft/head weft head',
    ],
    ['weft token join', 'here, once it runs: prints weft-join:…'],
  ]);
});

test('init writes a file that config check accepts, and never overwrites one', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-cli-test-'));
  const weft = (...argv: string[]) => capture(folder, { program: 'weft', argv }, runWeft);
  try {
    const made = await weft('init', '--name', 'lab', '--listen', '0.0.0.0:5099');
    assert.equal(statSync(path.join(folder, 'weft.yaml')).mode & 0o137, 0);
    assert.equal(made.code, 0);
    // Without --dir root's head would listen beside the directory, and the next line look in it.
    for (const next of ['head', 'token join'])
      assert.ok(made.out.includes(`weft ${next} --dir ${folder}`));
    const checked = await weft('config', 'check', path.join(folder, 'weft.yaml'));
    assert.deepEqual([checked.code, checked.error], [0, '']);
    const shown = await weft('config', 'show', '-o', 'template={{key.name}} {{value}}');
    assert.match(shown.out, /cluster\.name lab\n/);
    assert.match((await weft('init')).error, /already exists/);
    // A group of which nothing is set may be added behind it, as the documents show it.
    const unsigned = 'wiki: {listen: 127.0.0.1:7321, unsigned: true}\n';
    appendFileSync(path.join(folder, 'weft.yaml'), unsigned);
    const more = await weft('config', 'check', path.join(folder, 'weft.yaml'));
    assert.deepEqual([more.code, more.error], [0, '']);
    const alone = path.join(folder, 'alone.yaml');
    writeFileSync(alone, 'notify: {webhook_hosts: [ci.example]}\n');
    const refused = await weft('config', 'check', alone);
    assert.equal(refused.code, 2);
    assert.match(refused.error, /alone\.yaml:1: notify\.webhook_hosts needs .*\n.*would refuse it/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
