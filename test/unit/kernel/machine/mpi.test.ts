// MPI tasks: one program on the first node, servers on the others that live as long as it does.

import assert from 'node:assert/strict';
import { scenario, submission, type TestHead } from '../../../support/controller.ts';

const MPI = { nodeCount: 2, mpi: {} };

function running(head: TestHead): void {
  head.connect('n1');
  head.connect('n2');
  head.running(MPI);
}

scenario('[A27] a program that has ended ends the servers, and the task has its exit', (head) => {
  running(head);
  head.ended('1#1', {}, 'n1');
  assert.deepEqual(head.orders('n2'), ['end 1#1']);
  assert.equal(head.outcome(1), null, 'a node is still in use');
  head.ended('1#1', { cause: 'ended', signal: 15 }, 'n2');
  assert.equal(head.outcome(1), 'completed');
  assert.deepEqual(head.job(1).outcome?.process, { node: 'n1', rank: 0 });
});

scenario('[A27] a program that has failed is why the task has failed', (head) => {
  running(head);
  head.ended('1#1', { code: 7 }, 'n1');
  head.ended('1#1', { cause: 'ended', signal: 15 }, 'n2');
  assert.deepEqual(head.job(1).outcome, {
    kind: 'failed',
    exit: { code: 7 },
    process: { node: 'n1', rank: 0 },
    detail: 'exited with code 7 on n1',
  });
});

scenario('[A27] a server that ends leaves the program to its own end', (head) => {
  running(head);
  head.ended('1#1', { signal: 9 }, 'n2');
  assert.deepEqual(head.orders('n1'), []);
  head.ended('1#1', {}, 'n1');
  assert.equal(head.outcome(1), 'completed');
});

scenario('[A27] memory used up on another node is why, whatever the program says of it', (head) => {
  running(head);
  head.ended('1#1', { code: 1 }, 'n1');
  head.ended('1#1', { cause: 'out_of_memory', signal: 15 }, 'n2');
  assert.equal(head.outcome(1), 'out_of_memory');
});

scenario(
  '[A27] a node lost after the program’s end takes nothing from what it has done',
  (head) => {
    running(head);
    head.ended('1#1', {}, 'n1');
    head.silence('n2', 60_000);
    assert.equal(head.outcome(1), 'completed');
  },
);

scenario('[A27] a node lost before the program’s end starts the task again', (head) => {
  running(head);
  head.ended('1#1', { code: 1 }, 'n1');
  head.silence('n2', 60_000);
  assert.equal(head.task('1').state, 'pending');
});

scenario('[J5] ranks per node are the cpus, and there is one process', (head) => {
  head.connect('n1');
  head.submit({ mpi: {}, cpuCount: 3 });
  head.submit({ mpi: { ranksPerNode: 2 }, cpuCount: 3 });
  head.submit({ mpi: {}, cpuCount: 0 });
  const ranks = [1, 2, 3].map((id) => head.job(id).spec.mpi?.ranksPerNode);
  assert.deepEqual(ranks, [3, 2, 1]);
  assert.equal(head.job(1).spec.request.processesPerNode, 1);
});

scenario('[J5] processes of an MPI job are refused: its ranks are what is meant', (head) => {
  head.connect('n1');
  const refused = head.refused(submission({ mpi: {}, processesPerNode: 2 }));
  assert.equal(refused, 'argument.invalid');
});

scenario(
  '[A27] ranks that nodes do not share evenly are those of all, with one less on some',
  (head) => {
    head.connect('n1');
    head.connect('n2');
    const id = head.submit({ nodeCount: 2, cpuCount: 2, mpi: { ranks: 3 } });
    assert.deepEqual(head.job(id).spec.mpi, { ranksPerNode: 2, ranks: 3 });
    const even = head.submit({ nodeCount: 2, cpuCount: 2, mpi: { ranks: 4, ranksPerNode: 2 } });
    assert.deepEqual(head.job(even).spec.mpi, { ranksPerNode: 2 });
    for (const mpi of [{ ranks: 1 }, { ranks: 7, ranksPerNode: 3 }, { ranks: 3, ranksPerNode: 3 }])
      assert.throws(() => head.submit({ nodeCount: 2, mpi }), /ranks are not 2 nodes/);
  },
);
