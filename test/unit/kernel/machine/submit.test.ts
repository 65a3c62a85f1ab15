// Accepting jobs: ids, keys, defaults, and what is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { submissionOf as resubmissionOf } from '../../../../src/kernel/machine/jobs/resubmission.ts';
import { couldEverRun } from '../../../../src/kernel/machine/partitions/admission.ts';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import type { ResourceRequest } from '../../../../src/kernel/model/job.ts';
import { NODE_FEATURES } from '../../../../src/kernel/model/node-features.ts';
import { separateFiles } from '../../../../src/kernel/model/output-patterns.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import {
  ANN,
  BOB,
  SETTINGS,
  START_AT,
  scenario,
  submission,
  TestHead,
} from '../../../support/controller.ts';
import { GIB, resources } from '../../../support/nodes.ts';

scenario('[J1] ids count up from 1 and are not used again after a refusal', (head) => {
  head.connect('n1');
  assert.equal(head.submit(), 1);
  head.refused(submission({ cpuCount: 100 }), ANN);
  assert.equal(head.submit(), 2);
});

scenario(
  '[J2] a key sent again gives the same job, and another owner has keys of his own',
  (head) => {
    head.connect('n1');
    const again = { kind: 'submitted', jobId: 1, again: true };
    assert.equal(head.submit({}, { key: 'k' }), 1);
    assert.deepEqual(head.command(submission({}, { key: 'k' }), ANN), again);
    assert.equal(head.submit({}, { key: 'k', by: BOB }), 2);
    assert.equal(head.submit({}, { key: 'other' }), 3);
    head.schedule();
    head.ended('1#1');
    assert.deepEqual(head.command(submission({ nice: 200 }, { key: 'k' }), ANN), again);
  },
);

scenario('[S8] a thousand copies of one submission are one job', (head) => {
  head.connect('n1');
  for (let copy = 0; copy < 1000; copy += 1) assert.equal(head.submit({}, { key: 'k' }), 1);
  assert.equal(head.state.jobs.size, 1);
  assert.equal(
    head.records.filter((record) => record.events[0]?.kind !== 'node_enrolled').length,
    2,
  );
});

scenario('[J5] defaults are filled in when the job is accepted', (head) => {
  head.connect('n1');
  const id = head.submit({ program: { kind: 'argv', argv: ['/opt/bin/solve', 'x'] } });
  head.settings = { ...SETTINGS, defaults: { ...SETTINGS.defaults, walltimeMs: 60_000 } };
  assert.deepEqual(head.job(id).spec, {
    name: 'solve',
    program: { kind: 'argv', argv: ['/opt/bin/solve', 'x'] },
    environment: {},
    directory: { kind: 'private' },
    files: {},
    request: {
      nodeCount: 1,
      processesPerNode: 1,
      perNode: resources({ cpus: 1 }),
      exclusive: false,
      labels: [],
      nodeNames: [],
    },
    walltimeMs: null,
    array: null,
    dependencies: [],
    beginAt: null,
    nice: 0,
    held: false,
    onNodeLoss: { kind: 'requeue' },
    requeue: true,
    retriesMax: 0,
    partition: 'default',
    umask: 0o022,
  });
  assert.equal(head.job(head.submit()).spec.walltimeMs, 60_000);
  assert.equal(head.job(head.submit({ walltimeMs: null })).spec.walltimeMs, null);
});

scenario('[J5] the name is the last part of the first word', (head) => {
  head.connect('n1');
  const named = (program: Submission['program']) => head.job(head.submit({ program })).spec.name;
  assert.equal(named({ kind: 'argv', argv: ['./run.sh'] }), 'run.sh');
  assert.equal(named({ kind: 'shell', line: '  /bin/echo hi | wc' }), 'echo');
  assert.equal(named({ kind: 'script', text: '#!/bin/sh\n', args: [] }), 'script');
  assert.equal(named({ kind: 'argv', argv: ['/'] }), 'job');
});

scenario('a name may be a path, which no file pattern follows', (head) => {
  head.connect('n1');
  assert.equal(head.job(head.submit({ name: './bin/x.sh' })).spec.name, './bin/x.sh');
});

scenario('[J5] naming nodes asks for all of them', (head) => {
  head.connect('n1');
  head.connect('n2');
  const nodeNames = ['n1', 'n2'] as NodeName[];
  assert.equal(head.job(head.submit({ nodeNames })).spec.request.nodeCount, 2);
});

scenario('jobs of one environment share it, and it goes with the last of them', (head) => {
  head.connect('n1');
  const environment = { PATH: '/bin', HOME: '/data/ann' };
  head.submit({ environment });
  head.submit({ environment: { ...environment } });
  head.submit({ environment: { PATH: '/bin' } });
  assert.equal(head.state.environments.size, 2);
  assert.deepEqual(head.job(2).spec.environment, environment);
  const added = head.records.flatMap((record) => record.events);
  assert.equal(added.filter((event) => event.kind === 'environment_added').length, 2);
  const kept = added.filter((event) => event.kind === 'job_submitted');
  assert.ok(kept.every((event) => Object.keys(event.spec.environment).length === 0));
});

scenario('jobs of many scripts share their environment, and each knows its file', (head) => {
  head.connect('n1');
  const environment = { PATH: '/bin' };
  const program = { kind: 'script', text: '#!/bin/sh', args: [] } as const;
  const ids = ['/w/a.sh', '/w/b.sh', ''].map((scriptPath) =>
    head.submit({ program, environment, scriptPath }),
  );
  assert.equal(head.state.environments.size, 1);
  const specs = ids.map((id) => head.job(id).spec);
  assert.deepEqual(
    specs.map(({ scriptPath }) => scriptPath),
    ['/w/a.sh', '/w/b.sh', ''],
  );
  assert.ok(specs.every((spec) => resubmissionOf(spec).scriptPath === spec.scriptPath));
});

const ARGV: Submission = { program: { kind: 'argv', argv: ['x'] } };

/** What is refused as `argument.invalid`, with a word that the message must have. */
const INVALID: readonly [wish: Partial<Submission>, says: RegExp][] = [
  [{ program: { kind: 'argv', argv: [] } }, /no command/],
  [{ program: { kind: 'argv', argv: [''] } }, /no command/],
  [{ program: { kind: 'shell', line: '  ' } }, /no command/],
  [{ program: { kind: 'argv', argv: ['a\0b'] } }, /NUL/],
  [{ program: { kind: 'script', text: 'x'.repeat(1_048_577), args: [] } }, /larger than 1M/],
  [{ environment: { 'A=B': 'c' } }, /'A=B' is not a name/],
  [{ environment: { '': 'c' } }, /not a name/],
  [{ environment: { A: 'b\0' } }, /NUL/],
  [{ environment: JSON.parse('{"__proto__": "x"}') }, /'__proto__' is not a name/],
  [{ name: '' }, /printable/],
  [{ name: 'a\nb' }, /printable/],
  [{ name: 'n'.repeat(201) }, /1-200/],
  [{ nodeCount: 0 }, /number of nodes/],
  [{ nodeCount: 1.5 }, /whole number/],
  [{ nodeCount: 10_001 }, /number of nodes/],
  [{ nodeNames: ['n1'] as NodeName[], nodeCount: 2 }, /only 1 are named/],
  [{ nodeNames: ['n1', 'n1'] as NodeName[] }, /named twice/],
  [{ processesPerNode: 0 }, /processes per node/],
  [{ cpuCount: -1 }, /cpus/],
  [{ memoryBytes: 512 }, /is the unit missing/],
  [{ gpuCount: Number.NaN }, /gpus/],
  [{ counted: { licence: -1 } }, /the amount of licence/],
  [{ counted: { constructor: 1 } }, /'constructor' is not a name/],
  [{ counted: { 'a b': 1 } }, /'a b' is not a name/],
  [{ walltimeMs: 10 }, /at least 1s/],
  [{ walltimeMs: 1e15 }, /time limit/],
  [{ warning: { signal: 12, leadMs: 1000 } }, /needs a time limit; give one with --time/],
  [{ walltimeMs: 60_000, warning: { signal: 12, leadMs: 60_000 } }, /1m before .* only 1m/],
  [{ walltimeMs: 60_000, warning: { signal: 65, leadMs: 1 } }, /signal/],
  [{ array: { indices: '' } }, /not a list of array indices/],
  [{ array: { indices: '5-1' } }, /runs backwards/],
  [{ array: { indices: '0-9:0' } }, /step of 0/],
  [{ array: { indices: '0-1000000' } }, /more than 1000000 tasks/],
  [{ array: { indices: '1000000000' } }, /larger than 999999999/],
  [{ array: { indices: '0-9', runningMax: 0 } }, /limit of running tasks/],
  [{ beginAt: -1 }, /begin time/],
  [{ beginAt: 253_402_214_400_000 }, /begin time is more than 100 years from now/],
  [{ nice: 101 }, /nice/],
  [{ onNodeLoss: { kind: 'lease', leaseMs: 10 } }, /lease/],
  [{ retriesMax: 1001 }, /retries/],
  [{ umask: 0o1000 }, /umask/],
  [{ directory: { kind: 'shared', path: 'home' } }, /absolute/],
  [{ directory: { kind: 'shared', path: '/projects/../etc' } }, /'\.\.'/],
  [
    { dependencies: Array.from({ length: 1001 }, () => ({ jobId: 1 as JobId, condition: 'ok' })) },
    /at most 1000/,
  ],
];

for (const [wish, says] of INVALID) {
  const shown = JSON.stringify(wish).slice(0, 60);
  test(`[J3] a submission with ${shown} is refused as ${says}`, () => {
    const head = new TestHead();
    head.connect('n1');
    const before = head.records.length;
    const input = { ...ARGV, ...wish };
    const { result } = head.perform({ kind: 'command', command: submission(input), actor: ANN });
    assert.ok(!result.ok);
    assert.equal(result.error.code, 'argument.invalid');
    assert.match(result.error.details['what'] ?? '', says);
    assert.equal(head.records.length, before);
    head.finish();
  });
}

scenario('[J4] what no node could hold is refused, and the nearest node is named', (head) => {
  const nothing = head.perform({ kind: 'command', command: submission(), actor: ANN }).result;
  assert.ok(!nothing.ok && /No node has joined/.test(nothing.error.details['nearest'] ?? ''));
  head.connect('small', { cpus: 2 });
  head.connect('big', { cpus: 8, memory: 16 * GIB });
  const command = submission({ cpuCount: 8, nodeCount: 2 });
  const { result } = head.perform({ kind: 'command', command, actor: ANN });
  assert.ok(!result.ok && result.error.code === 'resources.unsatisfiable');
  assert.equal(
    result.error.details['nearest'],
    'The nearest node is small with 2 cpus, 8G memory; it lacks 6 cpus (1 of 2 nodes could hold one part)',
  );
  assert.match(result.error.details['request'] ?? '', /2 nodes with 8 cpus/);
});

scenario(
  '[J4] the nearest node is the one that lacks the fewest things, then the least',
  (head) => {
    head.connect('cpus', { cpus: 64, memory: 2 * GIB });
    head.connect('memory', { cpus: 4, memory: 60 * GIB });
    const nearest = (wish: Partial<Submission>) => {
      const command = submission(wish);
      const { result } = head.perform({ kind: 'command', command, actor: ANN });
      assert.ok(!result.ok);
      return /node is (\S+) .*it lacks (.*)/.exec(result.error.details['nearest'] ?? '')?.slice(1);
    };
    assert.deepEqual(nearest({ memoryBytes: 64 * GIB }), ['memory', '4G memory']);
    assert.deepEqual(nearest({ cpuCount: 8, memoryBytes: 64 * GIB }), ['cpus', '62G memory']);
    assert.deepEqual(nearest({ cpuCount: 80, memoryBytes: GIB, gpuCount: 1 }), [
      'cpus',
      '16 cpus and 1 gpu',
    ]);
  },
);

scenario('[J4] drained, silent and declared nodes count as able', (head) => {
  head.enroll('n1', { declared: { cpus: 4 } });
  assert.equal(head.submit({ cpuCount: 4 }), 1);
  head.connect('n2', { cpus: 16 });
  head.command({ kind: 'drain_node', node: 'n2' as NodeName, reason: 'fan' });
  head.disconnect('n2');
  assert.equal(head.submit({ cpuCount: 16 }), 2);
});

scenario('output that would go with the directory of its job is captured', (head) => {
  head.connect('n1', { shared: ['/projects'] });
  const files = { stdout: 'cmlogs/%j', stderr: '/var/tmp/e' };
  const filesIn = (path: string) => {
    const directory = { kind: 'auto' as const, path };
    return head.job(head.submit({ directory, files })).spec.files;
  };
  assert.deepEqual(filesIn('/projects/x'), files);
  assert.deepEqual(filesIn('/homestead'), { stderr: '/var/tmp/e' });
});

test('tasks of an array never share a file that they would cut off', () => {
  const files = { stdout: 'out', stderr: 'e.%a', stdin: 'in' };
  assert.deepEqual(separateFiles(files), { ...files, stdout: 'out.%a' });
  assert.deepEqual(separateFiles({ stdout: '/dev/null', stderr: 'x%%a' }), {
    stdout: '/dev/null',
    stderr: 'x%%a.%a',
  });
});

scenario(
  '[J4] unknown labels, nodes, partitions, directories and jobs are refused by name',
  (head) => {
    head.connect('n1', { shared: ['/projects'] });
    const refused = (wish: Partial<Submission>) => head.refused(submission(wish), ANN);
    assert.equal(refused({ labels: ['fast'] }), 'label.unknown');
    assert.equal(refused({ nodeNames: ['n9'] as NodeName[] }), 'node.not_found');
    assert.equal(refused({ partition: 'gpu' }), 'partition.unknown');
    const path = '/homestead';
    assert.equal(refused({ directory: { kind: 'shared', path } }), 'directory.not_shared');
    head.connect('n2');
    const inProjects = { directory: { kind: 'auto', path: '/projects/x' } } as const;
    const unshared = { ...inProjects, nodeNames: ['n2'] as NodeName[] };
    assert.equal(refused(unshared), 'directory.not_on_nodes');
    const dependencies = [{ jobId: 7 as JobId, condition: 'ok' }] as const;
    assert.equal(refused({ dependencies }), 'job.dependency_unknown');
  },
);

scenario(
  '[Z15] input that others bring is for one process, and for each task of an array',
  (head) => {
    head.connect('n1', { features: NODE_FEATURES });
    const files = { stdin: 'attach' };
    assert.equal(head.refused(submission({ files, processesPerNode: 2 }), ANN), 'argument.invalid');
    const { spec } = head.job(head.submit({ files, array: { indices: '0-1' } }));
    assert.deepEqual(spec.files, files);
  },
);

scenario('[J18] nodes and the system submit nothing', (head) => {
  head.connect('n1');
  const node = { kind: 'node', name: 'n1' as NodeName } as const;
  assert.equal(head.refused(submission(), node), 'auth.role_needed');
  assert.equal(head.refused(submission(), { kind: 'system' }), 'auth.role_needed');
});

scenario('[A32] a node that shares the directory takes the job, whatever others share', (head) => {
  head.connect('n1', { cpus: 1, shared: ['/'] });
  const directory = { kind: 'auto', path: '/data/ann/x' } as const;
  const wish = { cpuCount: 1, directory };
  head.submit(wish);
  head.submit(wish);
  assert.deepEqual(head.schedule(), ['1#1@n1']);
  head.connect('h2', { cpus: 1, shared: ['/data'] });
  assert.deepEqual(head.schedule(), ['2#1@h2'], 'also one that waited before the node came');
  head.connect('h3', { cpus: 1, shared: ['/data/bob'] });
  head.submit(wish);
  assert.deepEqual(head.schedule(), [], 'a directory of somebody else is of no use');
  const named = { ...wish, nodeNames: ['h3'] as NodeName[], array: { indices: '1-4' } };
  const command = submission(named);
  const { result } = head.perform({ kind: 'command', command, actor: ANN });
  assert.ok(!result.ok);
  assert.deepEqual(result.error.details, { path: '/data/ann/x', nodes: 'h3' });
  assert.match(result.error.hint ?? '', /--private/);
});

scenario('[A5] a directory is used where nodes share it, else it is private', (head) => {
  head.connect('n1', { shared: ['/projects', '/data'] });
  head.connect('n2', { shared: ['/data'] });
  const at = (kind: 'shared' | 'auto', path: string) => {
    const { directory, request, onNodeLoss } = head.job(
      head.submit({ directory: { kind, path } }),
    ).spec;
    return [directory.kind, request.labels, onNodeLoss.kind];
  };
  assert.deepEqual(at('shared', '/projects/ann'), ['shared', ['shared=/projects'], 'wait']);
  assert.deepEqual(at('auto', '/data'), ['shared', ['shared=/data'], 'wait']);
  assert.deepEqual(at('auto', '/tmp/x'), ['private', [], 'requeue']);
  assert.deepEqual(head.schedule(), ['1#1@n1', '2#1@n1', '3#1@n1']);
});

scenario('[J11] a job waits for its begin time', (head) => {
  head.connect('n1');
  const id = head.submit({ beginAt: START_AT + 5_000 });
  assert.deepEqual(head.schedule(), []);
  assert.deepEqual(head.tick(4_999), []);
  assert.deepEqual(head.schedule(), []);
  head.tick(1);
  assert.deepEqual(head.schedule(), [`${id}#1@n1`]);
});

test('what a submission could run on is looked for no further than it must', () => {
  let looks = 0;
  function* nodes() {
    for (const name of ['n1', 'n2', 'n3', 'n4'] as NodeName[]) {
      looks += 1;
      yield { name, total: resources({ cpus: name === 'n1' ? 1 : 4 }), labels: new Set<string>() };
    }
  }
  const asks = (cpus: number, nodeCount: number) => {
    looks = 0;
    const perNode = resources({ cpus, memory: 0 });
    const request = { nodeCount, perNode, labels: [], nodeNames: [] } as unknown as ResourceRequest;
    return [couldEverRun(request, nodes()), looks];
  };
  assert.deepEqual(asks(1, 1), [true, 1]);
  assert.deepEqual(asks(2, 2), [true, 3]);
  assert.deepEqual(asks(8, 1), [false, 4]);
});

const LEASED = { kind: 'lease', leaseMs: 900_000 } as const;

scenario(
  '[N9] what the cluster has for a silent node counts where a job says nothing',
  (head) => {
    head.connect('n1');
    const loss = (wish: Partial<Submission>) => head.job(head.submit(wish)).spec.onNodeLoss;
    assert.deepEqual(loss({ directory: { kind: 'private' } }), LEASED);
    assert.deepEqual(loss({ onNodeLoss: { kind: 'wait' } }), { kind: 'wait' });
  },
  { defaults: { ...SETTINGS.defaults, onNodeLoss: LEASED } },
);
