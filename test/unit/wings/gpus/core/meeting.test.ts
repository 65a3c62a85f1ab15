// What processes on the gpus of one task are told of each other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobId, NodeName } from '../../../../../src/kernel/model/ids.ts';
import { type Meeting, meetingOf } from '../../../../../src/wings/gpus/core/meeting.ts';
import { launch, shell } from '../../../kernel/agent/orders.ts';

interface Words {
  readonly nodes?: readonly string[];
  readonly processes?: number;
  readonly gpus?: number;
  readonly isMpi?: boolean;
  readonly here?: readonly string[];
}

function found(words: Words, rank = 0): Record<string, string> {
  const { usual, ours, ofRank } = meeting(words);
  return { ...usual, ...ours, ...ofRank?.(rank) };
}

function meeting(words: Words): Meeting {
  const { nodes = ['a', 'b'], processes = 1, gpus = 1, isMpi = false, here = [] } = words;
  const order = launch(42, shell('x'), { epoch: 2, nodeRank: nodes.length - 1 });
  const of = {
    ...order,
    place: { jobId: 42 as JobId, index: null },
    nodes: nodes as readonly NodeName[],
    processesPerNode: processes,
    share: { ...order.share, gpus: Array.from({ length: gpus }, (_, at) => at) },
    ...(isMpi ? { mpi: {} as never } : {}),
  };
  return meetingOf(of, (node) => here.includes(node));
}

const MET = { MASTER_ADDR: 'a', MASTER_PORT: '24076' };

test('[V19] one process for each gpu: each finds its rank, the address and the port', () => {
  assert.deepEqual(found({ processes: 4, gpus: 4 }, 3), {
    ...MET,
    WORLD_SIZE: '8',
    LOCAL_WORLD_SIZE: '4',
    RANK: '7',
    LOCAL_RANK: '3',
  });
  const one = { WORLD_SIZE: '2', LOCAL_WORLD_SIZE: '1', RANK: '1', LOCAL_RANK: '0' };
  assert.deepEqual(found({}), { ...MET, ...one });
  const single = { nodes: ['a'], processes: 2, gpus: 2 };
  assert.equal(found(single, 1)['RANK'], '1', 'on one node, too');
});

test('[V19] a process that has several gpus, or a launcher of MPI, starts the ranks itself', () => {
  assert.deepEqual(found({ gpus: 4 }), MET);
  assert.deepEqual(found({ isMpi: true }), MET);
});

test('[V19] one process alone, and one without gpus, is told nothing', () => {
  assert.deepEqual(found({ nodes: ['a'], gpus: 4 }), {});
  assert.deepEqual(found({ gpus: 0, processes: 2 }), {});
});

test('[V19] nodes of one machine meet there: nobody else knows their names', () => {
  assert.equal(found({ here: ['a', 'b'] })['MASTER_ADDR'], '127.0.0.1');
  assert.equal(found({ here: ['b'] })['MASTER_ADDR'], 'a');
});

test('[V19] what joins the task is told of no rank, but as a script may tell its steps', () => {
  const named = (words: Words) => {
    const { usual, ours, ofProcesses = [] } = meeting(words);
    return Object.keys({ ...usual, ...ours }).filter((name) => !ofProcesses.includes(name));
  };
  const met = ['MASTER_ADDR', 'MASTER_PORT'];
  assert.deepEqual(named({ processes: 4, gpus: 4 }), [...met, 'WORLD_SIZE']);
  assert.deepEqual(named({ gpus: 4 }), met);
});
