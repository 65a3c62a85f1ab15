// The gpus of a node, as people read them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatNode } from '../../../../src/kernel/cli/commands/node.ts';
import { remark } from '../../../../src/kernel/cli/nodes/columns.ts';
import { PLAIN } from '../../../../src/kernel/cli/output/paint.ts';
import { shortUuid } from '../../../../src/kernel/model/gpu.ts';
import { cardWords, jobOfTask } from '../../../../src/kernel/page/pure/cards.ts';
import { gpuCard as card, nodeView } from './views.ts';

const USED = 'used outside Weft by ann (python, 21G, since 2026-11-27T14:02:00Z)';

const NODE = nodeView({
  gpus: {
    cards: [
      card('0', { state: 'given', tasks: ['42[7]#1'] }),
      card('1', { state: 'used_outside', why: USED, tasks: ['43#1'] }),
      card('amd:0', { state: 'ill', why: 'ill: GPU is lost', memoryBytes: null }),
      card('2'),
    ],
    driver: 'nvidia 580.95.05',
    remark: 'nvidia: nvidia-smi hangs',
  },
});

test('[V2, V3] a node in full shows each gpu with type, memory, uuid, state and who has it', () => {
  const lines = formatNode(NODE, undefined, PLAIN).filter((line) => line.startsWith('Gpu'));
  assert.deepEqual(
    lines.map((line) => line.replace(/: +/, ': ')),
    [
      'Gpu 0: rtx4090 24G GPU-8af65f56: given to 42[7]#1',
      `Gpu 1: rtx4090 24G GPU-8af65f56: ${USED}; given to 43#1`,
      'Gpu amd:0: rtx4090 GPU-8af65f56: ill: GPU is lost',
      'Gpu 2: rtx4090 24G GPU-8af65f56: free',
      'Gpu driver: nvidia 580.95.05',
      'Gpu tools: nvidia: nvidia-smi hangs',
    ],
  );
  assert.ok(!formatNode(nodeView(), undefined, PLAIN).some((line) => line.startsWith('Gpu')));
});

test('[V2] a listing remarks the first gpu that is not given, unless the node has worse', () => {
  assert.equal(remark(NODE, 0), `gpu 1 ${USED}; 1 more may not be given`);
  assert.equal(remark({ ...NODE, reason: 'drained by root: fan' }, 0), 'drained by root: fan');
  assert.equal(remark(nodeView(), 0), '');
});

test('the page says how a gpu is, and links the job of its task', () => {
  assert.equal(cardWords({ state: 'used_outside', why: USED }), USED);
  assert.equal(cardWords({ state: 'given', why: null }), 'given');
  assert.equal(jobOfTask('42[7]#1'), 42);
});

test('a uuid is short and tells cards and slices apart', () => {
  assert.equal(shortUuid('GPU-8af65f56-1111'), 'GPU-8af65f56');
  assert.equal(shortUuid('MIG-b9660076-e480'), 'MIG-b9660076');
  assert.equal(shortUuid('69592929-0523-5f72'), '69592929');
});
