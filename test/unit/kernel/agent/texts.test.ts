// The small text makers of the agent: patterns, environment, journal frames.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  buildEnvironment,
  enginesPath,
  environmentOfJoining,
  environmentOfProcess,
} from '../../../../src/kernel/agent/environment.ts';
import { Journal, readFrames } from '../../../../src/kernel/agent/journal.ts';
import { formatPattern } from '../../../../src/kernel/agent/patterns.ts';
import type { AgentSettings } from '../../../../src/kernel/agent/ports.ts';
import type { JobId, NodeName } from '../../../../src/kernel/model/ids.ts';
import { ROOT } from '../../../../tools/tree.ts';
import { ALICE, MemoryJournal, settings } from './fake-world.ts';
import { launch, shell } from './orders.ts';

const WITH_GPUS = { ...settings().resources, gpuCount: 1 };
const NOW = { at: 1000, monotonic: 1000 };
const place = { jobId: 42 as JobId, index: 7 };
const order = {
  ...launch(42, shell('x'), { epoch: 2, jobName: 'a/../b', nodeRank: 3 }),
  place,
  epochId: '42[7]#2' as never,
};

for (const [pattern, wanted] of [
  ['%j-%a-%t-%e', '42-7-42[7]-2'],
  ['%n.%p@%N', '3.5@n1'],
  ['out/%x.%u', 'out/a_.._b.alice'],
  ['100%%', '100%'],
  ['%q %', '%q %'],
]) {
  test(`the pattern ${pattern} gives ${wanted}`, () => {
    assert.equal(formatPattern(pattern as string, order, 5), wanted);
  });
}

function environment(other: Partial<typeof order> = {}): Record<string, string> {
  const own = { ...settings(), resources: WITH_GPUS, gpuFrom: 2 };
  const task = { order: { ...order, ...other }, account: ALICE, hostFile: '/h', temporary: null };
  const list = buildEnvironment({ ...task, settings: own }, []);
  return Object.fromEntries(
    environmentOfProcess(list, 5, 'inst:9').map((entry) => entry.split(/=(.*)/s).slice(0, 2)),
  );
}

test('a process finds out who and where it is', () => {
  const array = { first: 0, last: 9, count: 10 };
  const nodes = ['n1', 'n2'] as unknown as NodeName[];
  const found = environment({ array, nodes });
  const wanted = {
    WEFT_JOB_ID: '42',
    WEFT_TASK_ID: '42[7]',
    WEFT_EPOCH: '2',
    WEFT_ARRAY_INDEX: '7',
    WEFT_ARRAY_FIRST: '0',
    WEFT_ARRAY_LAST: '9',
    WEFT_ARRAY_COUNT: '10',
    WEFT_NODE_RANK: '3',
    CM_NODE_RANK: '3',
    WEFT_PROC_RANK: '5',
    CM_PROC_RANK: '5',
    WEFT_NODELIST: 'n1,n2',
    WEFT_NODE_COUNT: '2',
    WEFT_HOSTFILE: '/h',
    WEFT_LAUNCH: 'inst:9',
    HOME: '/home/alice',
    USER: 'alice',
    CUDA_VISIBLE_DEVICES: '',
  };
  for (const [name, value] of Object.entries(wanted)) assert.equal(found[name], value, name);
});

test('a job finds programs where its node says, unless it brings a PATH of its own', () => {
  const found = (environment: Record<string, string>, own: Partial<AgentSettings>) => {
    const task = { order: { ...order, environment }, account: ALICE, hostFile: '/h' };
    const node = { temporary: null, settings: { ...settings(), ...own } };
    const { common: list } = buildEnvironment({ ...task, ...node }, []);
    return list.filter((entry) => entry.startsWith('PATH='));
  };
  assert.deepEqual(found({}, {}), ['PATH=/usr/local/bin:/usr/bin:/bin']);
  const own = { jobPath: '/opt/apptainer/bin:/usr/bin' };
  assert.deepEqual(found({}, own), ['PATH=/opt/apptainer/bin:/usr/bin']);
  assert.deepEqual(found({ PATH: '/mine' }, own), ['PATH=/mine']);
  assert.equal(enginesPath(own.jobPath), `${own.jobPath}:/usr/local/sbin:/usr/sbin:/sbin`);
});

test('a job finds the head of its machine, unless it says another', () => {
  const found = (environment: Record<string, string>, own: Partial<AgentSettings>) => {
    const task = { order: { ...order, environment }, account: ALICE, hostFile: '/h' };
    const node = { temporary: null, settings: { ...settings(), ...own } };
    return buildEnvironment({ ...task, ...node }, []).common.filter((entry) =>
      /^WEFT_(?:DIR|HEAD|TOKEN)/.test(entry),
    );
  };
  const own = { headDirectory: '/c' };
  assert.deepEqual(found({}, {}), []);
  assert.deepEqual(found({ WEFT_TOKEN: 'wt_1' }, own), ['WEFT_DIR=/c']);
  assert.deepEqual(found({ WEFT_DIR: '/mine' }, own), ['WEFT_DIR=/mine']);
  assert.deepEqual(found({ WEFT_HEAD: 'h:5001' }, own), ['WEFT_HEAD=h:5001']);
});

test('libraries with threads are told the cpus that were asked for, unless the job says', () => {
  const resources = { cpuCount: 6, memoryBytes: 0, gpuCount: 0, counted: {} };
  const given = { ...order.share, resources };
  const found = environment({ share: given, processesPerNode: 4, jobName: 'fit' });
  assert.equal(found['WEFT_JOB_NAME'], 'fit');
  for (const name of ['OMP', 'OPENBLAS', 'MKL', 'BLIS', 'NUMEXPR', 'JULIA', 'RAYON']) {
    assert.equal(found[`${name}_NUM_THREADS`], '1', `${name}: 6 cpus for 4 processes`);
  }
  assert.equal(environment({ share: given, processesPerNode: 2 })['OMP_NUM_THREADS'], '3');
  const none = environment({ share: { ...given, resources: { ...resources, cpuCount: 0 } } });
  assert.equal(none['OMP_NUM_THREADS'], undefined);
  const own = environment({
    share: given,
    processesPerNode: 1,
    environment: { OMP_NUM_THREADS: '2', JULIA_NUM_THREADS: '5' },
  });
  assert.deepEqual(
    [own['OMP_NUM_THREADS'], own['MKL_NUM_THREADS'], own['JULIA_NUM_THREADS']],
    ['2', undefined, '5'],
    'what follows OMP_NUM_THREADS is left to follow it',
  );
});

test("gpus are named by the machine's numbers, of which a virtual node has some", () => {
  const resources = { ...order.share.resources, gpuCount: 2 };
  const found = environment({ share: { ...order.share, resources, gpus: [0, 1] } });
  assert.deepEqual([found['WEFT_GPUS'], found['CUDA_VISIBLE_DEVICES']], ['2,3', '2,3']);
});

test('docs/variables.md names every variable that the agent sets', () => {
  const page = readFileSync(path.join(ROOT, 'docs', 'variables.md'), 'utf8');
  const documented = [...page.matchAll(/`([A-Z]\w+)`/g)].map(([, name]) => name);
  const array = { first: 0, last: 9, count: 10 };
  for (const name of Object.keys(environment({ array, environment: {} }))) {
    assert.ok(documented.includes(name), name);
  }
});

test("the job's own values win over the account's, never over who it is", () => {
  const found = environment({ environment: { HOME: '/elsewhere', WEFT_JOB_ID: '1', 'A=B': 'x' } });
  assert.equal(found['HOME'], '/elsewhere');
  assert.equal(found['WEFT_JOB_ID'], '42');
  assert.equal(found['A'], undefined);
});

test('a name of ours in the environment of a job has no effect, ours comes once', () => {
  const given = {
    WEFT_LAUNCH: 'inst:1',
    WEFT_PROC_RANK: '7',
    CM_PROC_RANK: '7',
    WEFT_X: '',
    CM_: 'y',
  };
  const list = environmentOfProcess(
    buildEnvironment(
      {
        order: { ...order, environment: given },
        account: ALICE,
        hostFile: '/h',
        temporary: null,
        settings: settings(),
      },
      [],
    ),
    5,
    'inst:9',
  );
  const entries = list.filter((entry) => /^(WEFT_LAUNCH|.*_PROC_RANK|WEFT_X|CM_)=/.test(entry));
  const wanted = ['CM_=y', 'CM_PROC_RANK=5', 'WEFT_LAUNCH=inst:9', 'WEFT_PROC_RANK=5'];
  assert.deepEqual(entries.sort(), wanted);
});

test('what a wing says of each process is its own, and no job says it', () => {
  const given = { RANK: '9', KEPT: 'x' };
  const place = { account: ALICE, hostFile: '/h', temporary: null, settings: settings() };
  const of = { order: { ...order, environment: given }, ...place };
  const ofRank = (rank: number) => ({ RANK: String(rank + 1) });
  const list = environmentOfProcess(
    buildEnvironment(of, [{ variables: () => ({ ofRank }) }]),
    5,
    'inst:9',
  );
  const found = list.filter((entry) => /^(RANK|KEPT)=/.test(entry)).sort();
  assert.deepEqual(found, ['KEPT=x', 'RANK=6']);
});

test('what joins a task finds nothing by which its own processes find each other', () => {
  const given = { MEET: 'given', SIZE: '9', KEPT: 'x' };
  const place = { account: ALICE, hostFile: '/h', temporary: null, settings: settings() };
  const variables = () => ({
    usual: { MEET: 'wing', PORT: '1', SHARED: 's' },
    ours: { SIZE: '2' },
    ofRank: (rank: number) => ({ RANK: String(rank) }),
    ofProcesses: ['MEET', 'PORT', 'SIZE'],
  });
  const of = { order: { ...order, environment: given }, ...place };
  const built = buildEnvironment(of, [{ variables }]);
  const found = (list: string[]) =>
    list.filter((entry) => /^(MEET|PORT|SIZE|RANK|KEPT|SHARED|.*_PROC_RANK)=/.test(entry)).sort();
  assert.deepEqual(found(environmentOfJoining(built, 2)), ['KEPT=x', 'MEET=given', 'SHARED=s']);
  assert.deepEqual(found(environmentOfJoining(built, 1)), [
    'CM_PROC_RANK=0',
    'KEPT=x',
    'MEET=given',
    'SHARED=s',
    'WEFT_PROC_RANK=0',
  ]);
  assert.ok(found(environmentOfProcess(built, 0, 'inst:9')).includes('PORT=1'), 'its own do');
});

test('any prefix of a journal loads, up to its last whole frame', () => {
  const file = new MemoryJournal();
  const journal = new Journal(file, 'boot');
  const { state } = journal.recover(NOW);
  const ends = [file.bytes.length];
  for (let sentAt = 1; sentAt <= 5; sentAt += 1) {
    journal.append([{ kind: 'heard', sentAt }], state);
    ends.push(file.bytes.length);
  }
  fc.assert(
    fc.property(fc.integer({ min: 0, max: file.bytes.length }), (length) => {
      const { frames, torn } = readFrames(file.bytes.subarray(0, length));
      assert.equal(frames.length, ends.filter((end) => end <= length).length);
      assert.equal(torn, length > 0 && !ends.includes(length));
      // The reserve behind it changes nothing, unless all that a frame lacks are zeros.
      const padded = Buffer.concat([file.bytes.subarray(0, length), Buffer.alloc(100)]);
      const end = ends.find((one) => one >= length) ?? length;
      const isWhole = file.bytes.subarray(length, end).every((byte) => byte === 0);
      const whole = ends.filter((one) => one <= (isWhole ? end : length)).length;
      assert.equal(readFrames(padded).frames.length, whole);
    }),
  );
});

test('on a full disk the journal goes on in its reserve, also over a restart', () => {
  const file = new MemoryJournal();
  const first = new Journal(file, 'boot');
  const { state } = first.recover(NOW);
  file.isFull = true;
  file.reserveBytes = 10_000;
  const accepted = { kind: 'epoch_accepted', waits: false } as const;
  first.append([{ ...accepted, order: launch(1, shell('x')) }], state);
  const second = new Journal(file, 'boot');
  const again = second.recover(NOW);
  assert.deepEqual([...again.state.epochs.keys()], ['1#1']);
  second.append([{ ...accepted, order: launch(2, shell('x')) }], again.state);
  assert.equal(second.hasRoom(), false);
  const { state: last } = new Journal(file, 'boot').recover(NOW);
  assert.deepEqual([...last.epochs.keys()], ['1#1', '2#1']);
});

test('what orders share is written once, and again after a write that failed', () => {
  const file = new MemoryJournal();
  const journal = new Journal(file, 'boot');
  const { state } = journal.recover(NOW);
  const shared = { environment: { HOME: '/home/alice' } };
  const accepted = [1, 2, 3, 4].map((job) => {
    const program = { kind: 'script', text: 'run "$1"', args: [`${job}`] } as const;
    const own = launch(job, program, shared);
    return { kind: 'epoch_accepted', waits: false, order: own } as const;
  });
  const [failing, ...others] = accepted as [(typeof accepted)[0], ...typeof accepted];
  file.isFull = true;
  assert.throws(() => journal.append([failing], state));
  file.isFull = false;
  for (const event of others) journal.append([event], state);
  const count = (text: string): number => file.bytes.toString('latin1').split(text).length - 1;
  assert.equal(count('/home/alice'), 1);
  // An agent of a release before, which is put back, reads whole programs alone.
  assert.equal(count('run "$1"'), others.length);
  const [, ...frames] = readFrames(file.bytes).frames;
  assert.deepEqual(
    frames.flatMap(({ events }) => events),
    others,
  );
});

test('answers of the head use up no reserve', () => {
  const file = new MemoryJournal();
  const journal = new Journal(file, 'boot');
  const { state } = journal.recover(NOW);
  file.isFull = true;
  assert.doesNotThrow(() => journal.append([{ kind: 'heard', sentAt: 1 }], state));
});

test('a journal that could not be recovered into is written in whole when there is room', () => {
  const file = new MemoryJournal();
  const first = new Journal(file, 'boot-1');
  const { state } = first.recover(NOW);
  const event = { kind: 'epoch_accepted', waits: false, order: launch(1, shell('x')) } as const;
  first.append([event], state);
  file.isFull = true;
  const second = new Journal(file, 'boot-2');
  const again = second.recover(NOW);
  assert.throws(() => second.append([{ kind: 'kill_grace_set', graceMs: 1 }], again.state));
  file.isFull = false;
  second.append([{ kind: 'kill_grace_set', graceMs: 1 }], again.state);
  const last = new Journal(file, 'boot-2').recover(NOW);
  assert.equal(last.sameBoot, true);
  assert.equal(last.state.epochs.get(event.order.epochId)?.phase, 'ended');
});

test('a changed byte ends the journal before its frame', () => {
  const file = new MemoryJournal();
  const journal = new Journal(file, 'boot');
  const { state } = journal.recover(NOW);
  const before = file.bytes.length;
  journal.append([{ kind: 'heard', sentAt: 1 }], state);
  file.bytes[before + 12] = (file.bytes[before + 12] as number) ^ 1;
  const { frames, torn } = readFrames(file.bytes);
  assert.deepEqual([frames.length, torn], [1, true]);
});

test('[N14] another boot starts nothing that was accepted before it, and says so', () => {
  const file = new MemoryJournal();
  const first = new Journal(file, 'boot-1');
  const { state } = first.recover(NOW);
  const events = [
    { kind: 'heard', sentAt: 5 },
    { kind: 'epoch_accepted', order: launch(1, shell('x')), waits: false },
  ] as const;
  first.append(events, state);
  const same = new Journal(file, 'boot-1').recover(NOW);
  assert.equal(same.state.epochs.get(events[1].order.epochId)?.phase, 'accepted');
  const again = new Journal(file, 'boot-2').recover(NOW);
  assert.equal(again.state.epochs.get(events[1].order.epochId)?.phase, 'ended');
  const causes = [...again.state.reports.values()].map(
    (report) => 'cause' in report && report.cause,
  );
  assert.deepEqual(causes, ['never_started']);
  assert.deepEqual(
    [again.sameBoot, again.state.heardAt, again.state.epochs.size],
    [false, null, 1],
  );
});

test('a job may say where its programs find a head, but no token, nor who it is', () => {
  const told = { WEFT_DIR: '/d', WEFT_SOCKET: '/s', WEFT_HEAD: 'h', WEFT_FINGERPRINT: 'f' };
  const others = { WEFT_TOKEN: 'secret', WEFT_CALLS: '{}', WEFT_WORKER: '1[0]#1:0:x' };
  const found = environment({ environment: { ...told, WEFT_TOKEN_FILE: '/t', ...others } });
  for (const [name, value] of Object.entries({ ...told, WEFT_TOKEN_FILE: '/t' }))
    assert.equal(found[name], value, name);
  for (const name of Object.keys(others)) assert.equal(found[name], undefined, name);
});
