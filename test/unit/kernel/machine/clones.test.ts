// A node's identity on two machines: an agent's folder that was copied after it had joined.

import assert from 'node:assert/strict';
import { formatInstant } from '../../../../src/kernel/base/instant.ts';
import { cloneWords } from '../../../../src/kernel/machine/nodes/machine.ts';
import type { NodeName } from '../../../../src/kernel/model/ids.ts';
import { ANN, kinds, OPERATOR, scenario, type TestHead } from '../../../support/controller.ts';
import { helloOf, type NodeOptions } from '../../../support/nodes.ts';

const N1 = 'n1' as NodeName;
const A = { bootId: 'boot A', hostname: 'a' } as const;
const B = { bootId: 'boot B', hostname: 'b' } as const;

/** A hello that must be refused: the code, and what was noted. */
function clone(head: TestHead, options: NodeOptions, heardMsAgo?: number): string[] {
  const heard = heardMsAgo === undefined ? {} : { heardMsAgo };
  const { result, events } = head.perform({
    kind: 'hello',
    hello: helloOf('n1', options),
    ...heard,
  });
  if (!result.ok) assert.equal(result.error.code, 'node.cloned');
  else assert.equal(result.value.kind, 'node_cloned');
  return kinds(events);
}

/** Task 1 runs on machine A as n1; n2 waits for work. */
function running(head: TestHead, options: NodeOptions = {}): void {
  head.connect('n1', { ...A, ...options });
  head.running({ onNodeLoss: { kind: 'wait' } });
  head.connect('n2');
}

scenario('[N18] a machine that was up while the node was heard is another one', (head) => {
  running(head);
  assert.deepEqual(clone(head, { ...B, upMs: 60_000 }, 3_000), ['node_clone_seen']);
  assert.deepEqual(head.schedule(), [], 'its new boot is no evidence of loss');
  assert.equal(head.task('1').state, 'running');
  assert.equal(
    cloneWords(head.node('n1')),
    'two machines use its identity: a (boot boot A) and b (boot boot B)',
  );
});

scenario('[N18] machines of one host name are told apart by boot and time', (head) => {
  const same = { bootId: 'boot C', hostname: 'a', upMs: 60_000 };
  running(head);
  clone(head, same, 3_000);
  const seen = formatInstant(head.node('n1').clones[0]?.at ?? 0);
  const where = 'see /proc/sys/kernel/random/boot_id on each';
  const boots = `boot A and boot C since ${seen} (${where})`;
  const words = `two machines use its identity, all called a, with the boot ids ${boots}`;
  assert.equal(cloneWords(head.node('n1')), words);
});

scenario(
  '[N18] a folder that is a copy of the node is no reboot, however young its boot',
  (head) => {
    running(head, { instance: 'one' });
    head.disconnect('n1');
    const copy = { ...B, instance: 'two', upMs: 500, machine: { copyOf: 'one' } };
    assert.deepEqual(clone(head, copy, 4_000), ['node_clone_seen']);
    assert.equal(head.task('1').state, 'running');
  },
);

scenario('[N18] a plain reboot is one: nothing was heard since it began', (head) => {
  running(head);
  head.disconnect('n1');
  const hello = helloOf('n1', { bootId: 'boot A2', upMs: 20_000 });
  const { events } = head.perform({ kind: 'hello', hello, heardMsAgo: 21_000 });
  assert.deepEqual(kinds(events), ['node_connected', 'part_ended', 'task_requeued']);
});

scenario('[N18] two boots that alternate are two machines', (head) => {
  running(head);
  head.disconnect('n1');
  head.connect('n1', B);
  assert.deepEqual(clone(head, A), ['node_clone_seen']);
  head.submit({ nodes: ['n1'] } as never, { by: ANN });
  assert.equal(head.node('n1').clones.length, 1);
  assert.deepEqual(clone(head, A), [], 'once noted it is refused and no more');
});

scenario('[N18] a node with a copy gets no new work, and what it runs goes on', (head) => {
  head.connect('n1', A);
  head.running({ onNodeLoss: { kind: 'wait' } });
  clone(head, { ...B, upMs: 60_000 }, 1_000);
  head.submit();
  assert.deepEqual(head.schedule(), []);
  head.ended('1#1');
  assert.equal(head.outcome(1), 'completed');
  assert.deepEqual(head.schedule(), [], 'neither machine gets work');
});

scenario('[N18] another machine id or board is another machine while tasks are held', (head) => {
  const machine = { id: 'one', board: 'board 1' };
  running(head, { machine });
  head.disconnect('n1');
  head.silence('n1', 15_000);
  assert.deepEqual(clone(head, { ...B, machine: { ...machine, board: 'board 2' } }), [
    'node_clone_seen',
  ]);
  assert.equal(head.task('1').state, 'running');
  head.connect('n1', { ...A, machine, held: head.heldBy('n1') });
  assert.deepEqual(kinds(head.ended('1#1')).includes('task_done'), true);
});

scenario('[N18] a copied folder on the same machine is no restart of the agent', (head) => {
  running(head, { machine: { folder: 'original' } });
  head.disconnect('n1');
  const machine = { folder: 'copy', copyOf: 'instance 1' };
  assert.deepEqual(clone(head, { ...A, instance: 'instance 2', machine }), ['node_clone_seen']);
  assert.equal(cloneWords(head.node('n1')), 'two folders of a use its identity');
  head.connect('n1', { ...A, machine: { folder: 'original' }, held: head.heldBy('n1') });
  assert.equal(head.task('1').state, 'running');
});

scenario(
  '[N18] while there is a copy no new boot is evidence, unless its machine is known',
  (head) => {
    const own = { machine: { board: 'board 1' } };
    running(head, own);
    clone(head, { ...B, machine: { board: 'board 2' } });
    head.disconnect('n1');
    assert.deepEqual(clone(head, { bootId: 'boot C' }), ['node_clone_seen']);
    assert.deepEqual(clone(head, { bootId: 'boot B2', machine: { board: 'board 2' } }), [
      'node_clone_seen',
    ]);
    head.command({ kind: 'undrain_node', node: N1 });
    clone(head, { bootId: 'boot B3', machine: { board: 'board 2' } });
    const events = head.connect('n1', { bootId: 'boot A2', ...own });
    assert.deepEqual(kinds(events).includes('task_requeued'), true, 'it was restarted itself');
  },
);

scenario('[N19] a restarted head remembers copies and boots that are over', (head) => {
  running(head);
  clone(head, { ...B, upMs: 60_000 }, 1_000);
  head.crash();
  assert.deepEqual(clone(head, B), []);
  head.connect('n1', { ...A, held: head.heldBy('n1') });
  assert.deepEqual(head.schedule(), []);
  assert.equal(head.task('1').state, 'running');
});

scenario('[N19] a copy that was enrolled anew leaves the node alone', (head) => {
  running(head);
  clone(head, { ...B, upMs: 60_000 }, 1_000);
  head.command({
    kind: 'enroll_node',
    node: 'n3' as NodeName,
    secretHash: 'hash',
    resources: null,
    labels: [],
    replace: false,
    copyOf: { node: N1, bootId: 'boot B' },
  });
  assert.equal(cloneWords(head.node('n1')), null);
  head.submit({ walltimeMs: 1000 });
  assert.equal(head.schedule().length, 1);
});

scenario('[N19] an operator settles it: the other is gone, or nothing runs there', (head) => {
  running(head);
  clone(head, { ...B, upMs: 60_000 }, 1_000);
  head.command({ kind: 'undrain_node', node: N1 }, OPERATOR);
  assert.equal(head.node('n1').clones.length, 0);
  clone(head, { ...B, upMs: 60_000 }, 1_000);
  head.disconnect('n1');
  head.command({ kind: 'declare_node_lost', node: N1 }, OPERATOR);
  head.connect('n1', B);
  assert.deepEqual(head.node('n1').clones, []);
});

for (const what of ['a gateway', 'a node without work'] as const) {
  scenario(`[N18] ${what} moves to another machine and back again`, (head) => {
    const own = what === 'a gateway' ? { site: 'n1' } : {};
    head.connect('n1', { ...A, ...own });
    if (what === 'a gateway') head.running({ onNodeLoss: { kind: 'wait' } });
    for (const machine of [B, A, B]) {
      head.disconnect('n1');
      const held = head.heldBy('n1');
      const hello = helloOf('n1', { ...machine, ...own, held, upMs: 60_000 });
      const { result } = head.perform({ kind: 'hello', hello, heardMsAgo: 3_000 });
      assert.ok(result.ok, result.ok ? '' : result.error.code);
      assert.equal(result.value.kind, 'done');
      assert.equal(cloneWords(head.node('n1')), null);
    }
    assert.deepEqual(clone(head, { ...A, ...own }), ['node_clone_seen'], 'both at once');
  });
}
