// A head whose store was copied to where it is gives no id again that it may have given out before.

import assert from 'node:assert/strict';
import { scenario } from '../../../support/controller.ts';

const SKIPPED = { nextJobId: 100_002, nextReservationId: 100_001, epochMax: 101 };

scenario('[S16] ids go on behind those that are skipped, also after another start', (head) => {
  head.connect('n1');
  assert.equal(head.submit(), 1);
  head.perform({ kind: 'started', skipped: SKIPPED });
  assert.equal(head.submit(), 100_002);
  head.crash();
  assert.equal(head.submit(), 100_003);
  const { copied } = head.state;
  assert.deepEqual([copied?.jobIdFrom, copied?.nextJobId], [2, 100_002]);
  assert.equal(head.state.losses.length, 0, 'nobody knows that anything is missing');
});

scenario('[S16] of a copy the lost jobs are named that its nodes know of', (head) => {
  head.connect('n1');
  head.submit();
  head.perform({ kind: 'started', skipped: SKIPPED });
  const given = { nextJobId: 200_000, nextReservationId: 1, epochMax: 1 };
  const loss = { lastSeq: 2, promisedSeq: 9, given, jobIdTo: 4 };
  head.once({ kind: 'loss', loss });
  const { jobIdFrom, jobIdTo } = head.state.losses[0] ?? assert.fail('it is not kept');
  assert.deepEqual([jobIdFrom, jobIdTo], [2, 4]);
});

scenario('[S16] numbers never go back, whatever is to be skipped', (head) => {
  head.perform({ kind: 'started', skipped: SKIPPED });
  head.perform({ kind: 'started', skipped: { nextJobId: 5, nextReservationId: 1, epochMax: 0 } });
  assert.equal(head.state.nextJobId, 100_002);
  assert.equal(head.state.epochMax, 101);
});
