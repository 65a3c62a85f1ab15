// What an agent gives the workers of pools: their program, and the way to the head.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { LaunchOrder } from '../../../../../src/kernel/model/orders.ts';
import { workersPart } from '../../../../../src/wings/calls/agent/part.ts';
import type { WorkerSettings } from '../../../../../src/wings/calls/agent/worker-container.ts';
import { makeFolder } from '../../../../support/folder.ts';
import { FakeWorld } from '../../../kernel/agent/fake-world.ts';
import { launch, share, shell } from '../../../kernel/agent/orders.ts';

const WORKERS: WorkerSettings = {
  program: '/bin/weft-worker',
  elsewhere: { argv: ['--small', '/opt/weft/bin/worker.cjs'], folder: '/opt/weft' },
  head: { socketPath: '/run/head.sock' },
};
const FORGED = { WEFT_CALLS: 'forged', WEFT_POOL: '9' };

/** What is started for the order: its command, its environment by name, and where. */
async function started(
  order: LaunchOrder,
  head = {},
): Promise<[string[], Map<string, string>, string]> {
  const world = new FakeWorld();
  world.parts = [workersPart({ ...WORKERS, ...head })];
  await world.start();
  world.head.order(order);
  await world.clock.settle();
  const [request] = world.launcher.started;
  await world.kill();
  assert.ok(request !== undefined, 'it was started');
  const pairs = request.environment.map((entry) => entry.split(/=(.*)/s).slice(0, 2));
  return [[...request.argv], new Map(pairs as [string, string][]), request.cwd];
}

test('[K8] [K15] a worker runs our program, which is told of the head, its secret and Python', async () => {
  const recycle = { calls: 100, bytes: 0 };
  const python = '/opt/venv/bin/python';
  const pool = { key: 'secret', recycle, python };
  const order = launch(7, shell('x'), { pool, epoch: 3, environment: FORGED });
  const [argv, environment] = await started(order);
  assert.deepEqual(argv, ['/bin/weft-worker']);
  assert.equal(environment.get('WEFT_POOL'), '7');
  assert.deepEqual(JSON.parse(environment.get('WEFT_CALLS') ?? ''), {
    head: { socketPath: '/run/head.sock' },
    key: 'secret',
    epochId: '7#3',
    worker: 'n1:7#3',
    recycle,
    python,
  });
  const tls = { url: 'https://head:5001', fingerprint: 'ab' };
  const [, remote] = await started(order, { head: tls });
  assert.deepEqual(JSON.parse(remote.get('WEFT_CALLS') ?? '').head, tls);
});

test('[K8] any other task is told nothing of it, whatever its environment says', async () => {
  const [argv, environment] = await started(launch(7, shell('x'), { environment: FORGED }));
  assert.deepEqual(argv, ['/bin/sh', '-c', 'x']);
  assert.deepEqual(
    [environment.get('WEFT_POOL'), environment.get('WEFT_CALLS')],
    [undefined, undefined],
  );
});

/** What the script of a worker says to its engine, word by word, and how it ends. */
function ran(argv: readonly string[], engine: string, t: TestContext) {
  const folder = makeFolder(t, { [engine]: `#!/bin/sh\n${ENGINE}` });
  const [file = '', ...args] = argv;
  const env = { PATH: `${folder}${delimiter}${process.env.PATH}`, LOG: join(folder, 'log') };
  const { status } = spawnSync(file, args, { env });
  const calls = readFileSync(env.LOG, 'utf8').split('\n--\n').slice(0, -1);
  return { status, calls: calls.map((call) => call.split('\n')) };
}

/** Writes down its words; podman says that it can limit memory and nothing else. */
const ENGINE = `case $1 in info) echo '[memory pids]'; exit ;; esac
printf '%s\\n' "$@" >> "$LOG"; echo -- >> "$LOG"
[ "$1" != run ] || exit "\${ENDS:-0}"
`;

const IMAGE = { kind: 'docker', name: 'lab/node:24' } as const;

test('[K14, E1] a worker with an image runs in a container that has its folder, our code and its head', async (t) => {
  const pool = { key: 'secret', image: IMAGE };
  const environment = { PATH: '/odd', HOME: '/nowhere', COLOUR: 'red', memory: "Ann's own" };
  const directory = { kind: 'shared', path: '/data/ann' } as const;
  const order = launch(7, shell('x'), { pool, environment, directory, share: share(1, 4096) });
  const [argv, , cwd] = await started(order);
  assert.equal(cwd, '/data/ann');
  const { status, calls } = ran(argv, 'docker', t);
  assert.equal(status, 0);
  assert.equal(calls.length, 1, 'it ended well: there is nothing to remove');
  const words = calls[0] ?? [];
  assert.deepEqual(words.slice(0, 3), ['run', '--rm', '--init']);
  assert.deepEqual(valuesOf(words, '--volume'), [
    ...['/data/ann:/data/ann', '/opt/weft:/opt/weft:ro', '/run:/run:ro'],
  ]);
  assert.deepEqual(valuesOf(words, '--workdir'), ['/data/ann']);
  assert.deepEqual(valuesOf(words, '--network'), ['host']);
  assert.deepEqual(valuesOf(words, '--user'), [`${process.getuid?.()}:${process.getgid?.()}`]);
  assert.deepEqual([valuesOf(words, '--memory'), valuesOf(words, '--cpus')], [['4096'], ['1']]);
  assert.deepEqual(words.slice(-3), ['lab/node:24', '--small', '/opt/weft/bin/worker.cjs']);
  const passed = valuesOf(words, '--env');
  for (const name of ['WEFT_CALLS', 'WEFT_POOL', 'COLOUR', 'memory']) {
    assert.ok(passed.includes(name), name);
  }
  for (const name of ['PATH', 'HOME', 'USER', 'WEFT_LAUNCH'])
    assert.ok(!passed.includes(name), name);
  assert.ok(!words.some((word) => word.includes('secret')), 'no command line has the secret');
  assert.ok(![...argv, ...words].some((word) => word.includes("Ann's own")), 'nor any variable');
});

test('[K14] podman has its root for the user, and only limits that it can set', async (t) => {
  const image = { kind: 'podman', name: 'lab/node:24' } as const;
  const order = launch(7, shell('x'), { pool: { key: 'k', image }, share: share(2, 4096) });
  const [argv] = await started(order, { head: { url: 'https://head:5001' } });
  const { calls } = ran(argv, 'podman', t);
  const words = calls[0] ?? [];
  assert.deepEqual(valuesOf(words, '--user'), ['0:0']);
  assert.deepEqual([valuesOf(words, '--memory'), valuesOf(words, '--cpus')], [['4096'], []]);
  assert.deepEqual(valuesOf(words, '--volume'), ['/tmp:/tmp', '/opt/weft:/opt/weft:ro']);
});

test('[K14] a worker in a container gets the gpus of its task and no others', async (t) => {
  for (const [kind, option, own] of [
    ['docker', '--gpus', ['"device=0,1"']],
    ['podman', '--device', ['nvidia.com/gpu=0', 'nvidia.com/gpu=1']],
  ] as const) {
    const image = { kind, name: 'lab/node:24' } as const;
    const two = { ...share(1, 4096), gpus: [0, 1] };
    const order = launch(7, shell('x'), { pool: { key: 'k', image }, share: two });
    const [argv] = await started(order);
    assert.deepEqual(valuesOf(ran(argv, kind, t).calls[0] ?? [], option), own);
  }
});

test('[K14] a container whose client did not see its end is removed by the script', async (t) => {
  const order = launch(7, shell('x'), { pool: { key: 'k', image: IMAGE } });
  const [argv] = await started(order);
  const script = argv.map((word) => word.replace('PATH=$PATH', 'export ENDS=137; PATH=$PATH'));
  const { status, calls } = ran(script, 'docker', t);
  assert.equal(status, 137);
  const [name = ''] = valuesOf(calls[0] ?? [], '--name');
  assert.match(name, /^weft-inst-\d+$/);
  assert.deepEqual(calls[1], ['rm', '--force', name]);
});

function valuesOf(words: readonly string[], option: string): string[] {
  return words.flatMap((word, at) => (word === option ? [words[at + 1] ?? ''] : []));
}
