// Real gpus, where the machine has some: what a node tells of them, what a task finds, and what it
// can open. Prints what it saw, for people: `npm test -- --only e2e --grep 'real gpus'`.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, it } from 'node:test';
import type { NodeView } from '../../src/kernel/api/nodes.ts';
import { SHOW } from './support/gpu-cluster.ts';
import { until } from './support/hosts.ts';
import { LocalCluster } from './support/local-cluster.ts';

/** What lists the cards of a driver, and how the answer looks where there is one. */
const TOOLS: readonly (readonly [argv: readonly string[], card: RegExp])[] = [
  [['nvidia-smi', '-L'], /^GPU \d+: /m],
  [['amd-smi', 'list', '--json'], /"bdf"/],
  [['rocm-smi', '--showid', '--json'], /"card\d+"/],
  [['xpu-smi', 'discovery', '-j'], /"device_id"/],
];
/** Each file of a card of NVIDIA, and whether it can be opened. */
const FILES =
  'for file in /dev/nvidia[0-9]*; do (: < "$file") 2> /dev/null && echo "open $file" || echo "shut $file"; done';

function whyNoCards(): string | false {
  const isThere = TOOLS.some(([[program = '', ...args], card]) => {
    const { stdout } = spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
    return card.test(stdout ?? '');
  });
  return isThere ? false : 'no tool of a driver lists a card here';
}

describe('real gpus', { skip: whyNoCards() }, () => {
  let cluster: LocalCluster;
  let gpus: NonNullable<NodeView['gpus']>;

  const told = async (): Promise<NodeView['gpus']> => {
    const node: NodeView = await cluster.client.call('GET', '/v1/nodes/n1');
    return node.gpus;
  };

  before(async () => {
    cluster = await LocalCluster.start('--listen', 'none');
    gpus = await until('the node tells of its cards', async () => {
      const now = await told();
      const isKnown = now?.cards.some(({ state }) => state !== 'unknown');
      return isKnown === true ? (now ?? undefined) : undefined;
    });
  });
  after(() => cluster.close());

  it('real gpus have a type, a size and a uuid, and it is said who uses them', async (context) => {
    context.diagnostic(await cluster.ok('node', 'show', 'n1'));
    context.diagnostic(await cluster.ok('gpus', '-o', 'wide'));
    for (const { uuid, type, memoryBytes } of gpus.cards) {
      assert.ok(uuid.length >= 8 && type !== 'gpu' && type !== '', `${uuid} ${type}`);
      assert.ok(memoryBytes === null || memoryBytes >= 2 ** 30, `${memoryBytes} bytes`);
    }
    assert.equal(new Set(gpus.cards.map(({ uuid }) => uuid)).size, gpus.cards.length);
  });

  it('a task finds its real gpu, and can open no other where the node says so', async (context) => {
    const free = gpus.cards.filter(({ state }) => state === 'free');
    if (free.length === 0) return context.diagnostic('no card is free: none was given');
    const line = `${SHOW}; ${FILES}`;
    const [none, one] = [
      await cluster.ok('run', '--follow', '--', line),
      await cluster.ok('run', '--follow', '--gpus', '1', '--', line),
    ];
    context.diagnostic(`without gpus:\n${none}\nwith one:\n${one}`);
    const uuid = /^WEFT_GPU_UUIDS=(.+)$/m.exec(one)?.[1];
    assert.ok(
      free.some((card) => card.uuid === uuid),
      one,
    );
    assert.doesNotMatch(none, /^WEFT_GPU_UUIDS=./m);
    if (gpus.fence?.holds !== true) return;
    assert.doesNotMatch(none, /^open /m);
    assert.ok((one.match(/^open \/dev\/nvidia/gm) ?? []).length <= 1, one);
  });
});
