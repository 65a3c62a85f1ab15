// Traces of clusters with gpus, as others publish them, and what the scheduler makes of one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainScheduling } from '../../../../../src/kernel/model/scheduling.ts';
import { parseGpuTrace } from '../../../../../src/wings/replay/core/gpu-trace.ts';
import { gpuWorkloadOf, nodesOf } from '../../../../../src/wings/replay/core/machine.ts';
import { replay } from '../../../../../src/wings/replay/core/replay.ts';

const OPENB = [
  'name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time',
  'p0,12000,16384,1,1000,,LS,Running,0,12537496,0',
  'p1,6000,12288,1,460,T4,LS,Running,427,9061,435.5',
  'p2,500,1024,0,0,,BE,Failed,500,,',
  '',
];
const HELIOS = [
  'job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue',
  '411,u7,vc3,j1,16,64,2,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:10,2020-04-01 01:00:10,3600,10',
  '412,u7,vc3,j2,1,4,1,FAILED,2020-04-01 00:01:00,None,None,0,0',
];

test('a trace of Alibaba, and one of Helios, are read by their titles', () => {
  const jobs = parseGpuTrace(OPENB.join('\n'))?.jobs ?? [];
  assert.deepEqual(jobs[1], {
    id: 'p1',
    submitS: 427,
    runS: 9061 - 435.5,
    gpus: 1,
    cpus: 6,
    memoryBytes: 12 * 2 ** 30,
    nodes: null,
  });
  assert.equal(jobs[2]?.runS, 0, 'it never ended');
  const [first, second] = parseGpuTrace(HELIOS.join('\r\n'))?.jobs ?? [];
  assert.deepEqual([first?.gpus, first?.cpus, first?.nodes, first?.runS], [16, 64, 2, 3600]);
  assert.deepEqual([second?.submitS, second?.runS], [(first?.submitS ?? 0) + 60, 0]);
});

test('broken lines are told, and what is no such table is none', () => {
  const broken = [
    OPENB[0],
    'p1,x,1,1,0,,LS,Running,5,6,5',
    'p2,1,1,-1,0,,LS,Running,5,6,5',
    'p3,1',
  ];
  const trace = parseGpuTrace(broken.join('\n'));
  assert.deepEqual([trace?.jobs, trace?.broken.map(({ line }) => line)], [[], [2, 3, 4]]);
  assert.match(trace?.broken[0]?.reason ?? '', /no number of gpus or cpus: '1', 'x'/);
  for (const text of ['', '; UnixStartTime: 0\n1 2 3', 'name,num_gpu\nx,1', '\0'.repeat(100)])
    assert.equal(parseGpuTrace(text), null);
});

test('a job of several nodes has its share of gpus on each, and what never fits is left out', () => {
  const machine = { nodeCount: 2, cpusPerNode: 64, memoryBytesPerNode: null, gpusPerNode: 8 };
  const { jobs } = parseGpuTrace(HELIOS.join('\n')) ?? { jobs: [] };
  const whole = gpuWorkloadOf(jobs, machine);
  const { nodeCount, perNode } = whole.jobs[0]?.request ?? {};
  assert.deepEqual([nodeCount, perNode?.gpuCount, perNode?.cpuCount], [2, 8, 32]);
  assert.deepEqual(whole.dropped, { incomplete: 1, tooLarge: 0 });
  assert.equal(gpuWorkloadOf(jobs, { ...machine, nodeCount: 1 }).dropped.tooLarge, 1);
  assert.equal(gpuWorkloadOf(jobs, { ...machine, gpusPerNode: 0 }).dropped.tooLarge, 1);
});

test('no gpu is given twice, and whoever waits for one starts when it comes back', () => {
  const rows = Array.from({ length: 40 }, (_, at) => {
    return `p${at},1000,1,${1 + (at % 3)},1000,,LS,Running,${at},${at + 30 + (at % 7)},${at}`;
  });
  const { jobs } = parseGpuTrace([OPENB[0], ...rows].join('\n')) ?? { jobs: [] };
  const machine = { nodeCount: 2, cpusPerNode: 64, memoryBytesPerNode: null, gpusPerNode: 4 };
  for (const policy of ['fifo', 'easy', 'conservative'] as const) {
    const scheduling = plainScheduling(policy);
    const { runs } = replay(gpuWorkloadOf(jobs, machine).jobs, nodesOf(machine), {
      scheduling,
      cpuMs: () => 0,
    });
    assert.equal(runs.length, 40);
    for (const { startedAt } of runs) {
      const open = runs.filter((one) => one.startedAt <= startedAt && one.endedAt > startedAt);
      const gpus = open.reduce((sum, { job }) => sum + job.request.perNode.gpuCount, 0);
      assert.ok(gpus <= 8, `${gpus} gpus by ${policy}`);
    }
    assert.ok(
      runs.some(({ job, startedAt }) => startedAt > job.submittedAt),
      'somebody waits',
    );
  }
});
