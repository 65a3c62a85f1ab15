// Counted resources of the whole cluster: who gets them, who waits, and what is refused.

import assert from 'node:assert/strict';
import { clusterUses } from '../../../../src/kernel/machine/schedule.ts';
import type { JobId } from '../../../../src/kernel/model/ids.ts';
import { plainPartition, plainScheduling } from '../../../../src/kernel/model/scheduling.ts';
import {
  ANN,
  BOB,
  SETTINGS,
  scenario,
  submission,
  type TestHead,
} from '../../../support/controller.ts';
import { HOUR } from '../../../support/reservations.ts';
import { why } from '../../../support/why.ts';

/** From here on the config says this, as after a reload. */
function configure(head: TestHead, resources: Readonly<Record<string, number>>): void {
  head.settings = { ...SETTINGS, scheduling: { ...plainScheduling('first_fit'), resources } };
}

scenario('[V14] licences are given once each, on however many nodes, and come back', (head) => {
  configure(head, { matlab: 3 });
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 8 });
  head.submit({ counted: { matlab: 2 }, nodeCount: 2 });
  head.submit({ counted: { matlab: 2 } }, { by: BOB });
  head.submit({ counted: { matlab: 1 } });
  assert.deepEqual(head.schedule(), ['1#1@n1+n2', '3#1@n1']);
  assert.equal(
    why(head, 2),
    "cluster_resource: asks for 2 matlab; 0 of the cluster's 3 are free, jobs 1, 3 have the others",
  );
  head.started('1#1');
  head.ended('1#1');
  assert.deepEqual(head.schedule(), ['2#1@n1']);
});

scenario('[V14] a head that starts again knows who holds them', (head) => {
  configure(head, { matlab: 1 });
  head.connect('n1', { cpus: 8 });
  head.submit({ counted: { matlab: 1 } });
  head.submit({ counted: { matlab: 1 } });
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.crash();
  head.connect('n1', { cpus: 8 });
  assert.deepEqual(head.schedule(), []);
  assert.match(why(head, 2), /0 of the cluster's 1 are free, job 1 has the others/);
});

scenario(
  '[V16] more than the cluster has is refused, and what nobody counts is asked of nodes',
  (head) => {
    configure(head, { matlab: 3 });
    head.connect('n1', { cpus: 8, counted: { camera: 1 } });
    const { refused } = head;
    assert.equal(
      refused.call(head, submission({ counted: { matlab: 4 } }), ANN),
      'resources.beyond_cluster',
    );
    assert.equal(
      refused.call(head, submission({ counted: { matlap: 1 } }), ANN),
      'resources.unsatisfiable',
    );
    head.submit({ counted: { matlab: 1, camera: 1 } });
    const change = { cpuCount: 2 };
    head.command({ kind: 'change_job', jobId: 1 as JobId, change }, ANN);
    assert.deepEqual(
      head.job(1).spec.request.ofCluster,
      { matlab: 1 },
      'what is not changed stays',
    );
  },
);

scenario(
  '[V16] where the config has fewer now, who holds them keeps them and others wait',
  (head) => {
    configure(head, { matlab: 3 });
    head.connect('n1', { cpus: 8 });
    head.submit({ counted: { matlab: 2 } });
    head.submit({ counted: { matlab: 2 } });
    assert.deepEqual(head.schedule(), ['1#1@n1']);
    configure(head, { matlab: 1 });
    assert.deepEqual(head.schedule(), []);
    assert.match(why(head, 2), /asks for 2 matlab; the cluster has 1, by `cluster.resources`/);
    configure(head, {});
    assert.match(why(head, 2), /the cluster has 0/);
  },
);

scenario('[V15] a task that is suspended keeps its licence', (head) => {
  configure(head, { matlab: 1 });
  head.connect('n1', { cpus: 8 });
  head.submit({ counted: { matlab: 1 } });
  head.submit({ counted: { matlab: 1 } });
  head.schedule();
  head.started('1#1');
  head.command({ kind: 'suspend_task', place: { jobId: 1 as JobId, index: null } }, ANN);
  assert.deepEqual(head.schedule(), []);
});

scenario(
  '[V15] nobody knows when a licence is free that is held past its time, or in silence',
  (head) => {
    configure(head, { matlab: 2 });
    for (const name of ['n1', 'n2']) head.connect(name, { cpus: 1 });
    head.running({ counted: { matlab: 1 }, walltimeMs: HOUR });
    const onNodeLoss = { kind: 'wait' } as const;
    head.running({ counted: { matlab: 1 }, walltimeMs: 2 * HOUR, onNodeLoss });
    const leftMs = () =>
      [...clusterUses(head.state, head.settings, head.at)].map(({ endsAt }) =>
        endsAt === null ? null : endsAt - head.at,
      );
    assert.deepEqual(leftMs(), [HOUR, 2 * HOUR]);
    head.disconnect('n2');
    head.silence('n2', 15_000);
    assert.deepEqual(leftMs(), [HOUR, null]);
    head.at += HOUR + SETTINGS.killGraceMs;
    assert.deepEqual(leftMs(), [1, null], 'it has its grace to end');
    head.at += 1;
    assert.deepEqual(leftMs(), [null, null]);
  },
);

scenario('[V15] nobody is sent away for a task whose licence a silent node holds', (head) => {
  configure(head, { matlab: 1 });
  const low = { ...plainPartition('default', 'first_fit'), preempt: 'requeue' } as const;
  const urgent = { ...plainPartition('urgent', 'first_fit'), tier: 1 };
  const scheduling = { ...head.settings.scheduling, partitions: { default: low, urgent } };
  head.settings = { ...head.settings, scheduling };
  for (const name of ['n1', 'n2']) head.connect(name, { cpus: 1 });
  head.running({ counted: { matlab: 1 }, walltimeMs: HOUR, onNodeLoss: { kind: 'wait' } });
  head.running();
  head.disconnect('n1');
  head.silence('n1', 15_000);
  head.at += 2 * HOUR;
  head.submit({ partition: 'urgent', counted: { matlab: 1 } }, { by: BOB });
  assert.deepEqual(head.perform({ kind: 'schedule' }).events, []);
});
