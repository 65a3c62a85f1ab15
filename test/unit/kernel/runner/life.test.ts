// The runner, input by input: what it decides, what is then to be done, what it reports.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Report } from '../../../../src/kernel/model/orders.ts';
import { apply } from '../../../../src/kernel/runner/apply.ts';
import { sumOf } from '../../../../src/kernel/runner/books.ts';
import { decide } from '../../../../src/kernel/runner/decide.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { emptyState } from '../../../../src/kernel/runner/state.ts';
import { deadlineOf } from '../../../../src/kernel/runner/time.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import { exited, failed, killed, prepared, process, started, swept, World } from './world.ts';

const order = (...of: Parameters<typeof launch>): RunnerInput => {
  return { kind: 'order', order: launch(...of) };
};
const end = (jobId: number, epoch = 1, graceMs = 5000): RunnerInput => {
  return {
    kind: 'order',
    order: { kind: 'end', epochId: idOf(jobId, epoch), graceMs, why: 'kill' },
  };
};
const ID = idOf(7);

const prepareFailed = (
  failure: { detail: string; nodeFault: boolean },
  cause: 'launch_failed' | 'stage_failed',
): RunnerInput => ({ kind: 'prepare_failed', epochId: ID, failure, cause });

/** Job 7 with its processes running. */
function running(other: Parameters<typeof launch>[2] = {}): World {
  const world = new World();
  world.feed(order(7, shell('x'), other), prepared(ID));
  for (let id = 1; id <= (other.processesPerNode ?? 1); id += 1) world.feed(started(id));
  return world;
}

function endReport(world: World): Extract<Report, { kind: 'task_ended' }> {
  const report = [...world.state.reports.values()].at(-1);
  assert.equal(report?.kind, 'task_ended');
  return report as Extract<Report, { kind: 'task_ended' }>;
}

test('an order is prepared, launched, run, swept, reported and then forgotten', () => {
  const world = new World();
  assert.deepEqual(world.feed(order(7, shell('x'))), ['epoch_accepted']);
  assert.deepEqual(world.toDo(), ['7#1 prepare']);
  assert.deepEqual(world.feed(prepared(ID)), ['epoch_launching']);
  assert.deepEqual(world.toDo(), ['7#1 start']);
  assert.deepEqual(world.feed(started(1)), ['process_started', 'epoch_running']);
  assert.deepEqual(world.toDo(), []);
  assert.deepEqual(world.feed(exited(1, 3, 1500)), ['process_exited', 'sweep_begun']);
  assert.deepEqual(world.toDo(), ['7#1 sweep']);
  assert.deepEqual(world.feed(swept(ID)), ['epoch_ended']);
  assert.deepEqual(world.reports(), ['7#1 task_started', '7#1 exited']);
  assert.deepEqual(endReport(world).processes, [{ rank: 0, exit: { code: 3 } }]);
  assert.deepEqual(world.toDo(), ['7#1 release']);
  assert.deepEqual(world.feed({ kind: 'released', epochId: ID }), ['epoch_released']);
  assert.deepEqual(world.feed({ kind: 'reports_acknowledged', upTo: 2 }), ['reports_acknowledged']);
  assert.equal(world.state.epochs.size, 0);
  assert.equal(world.state.byLaunch.size, 0);
  world.assertReplays();
});

test('[S3] a launch of an epoch that was here, even if forgotten, starts nothing', () => {
  const world = running();
  assert.deepEqual(world.feed(order(7, shell('x'))), []);
  world.feed(exited(1, 0, 1500), swept(ID), { kind: 'released', epochId: ID });
  world.feed({ kind: 'reports_acknowledged', upTo: 2 });
  assert.deepEqual(world.feed(order(7, shell('x'))), ['end_repeated']);
  assert.deepEqual(world.toDo(), []);
});

test('[S3] an end order for an unknown epoch reports never_started and bars it for ever', () => {
  const world = new World();
  assert.deepEqual(world.feed(end(7)), ['epoch_refused']);
  assert.deepEqual(world.reports(), ['7#1 never_started']);
  assert.deepEqual(world.feed(order(7, shell('x'))), []);
  world.feed({ kind: 'reports_acknowledged', upTo: 1 });
  assert.deepEqual(world.feed(order(7, shell('x'))), ['end_repeated']);
  assert.deepEqual(world.reports(), ['7#1 never_started']);
});

test('[S3] the next epoch of a task ends the older one and waits until it is gone', () => {
  const world = running();
  const next = order(7, shell('x'), { epoch: 2 });
  assert.deepEqual(world.feed(next), ['ending_begun', 'epoch_accepted']);
  assert.deepEqual(world.toDo(), ['7#1 signal end#0#1']);
  assert.deepEqual(world.feed(killed(1, 15, 2000)), ['process_exited', 'sweep_begun']);
  assert.deepEqual(world.feed(swept(ID)), ['epoch_ended', 'epoch_unblocked']);
  assert.deepEqual(world.toDo(), ['7#1 release', '7#2 prepare']);
});

test('[S3] an order for an epoch older than one that is here is refused', () => {
  const world = new World();
  world.feed(order(7, shell('x'), { epoch: 2 }));
  assert.deepEqual(world.feed(order(7, shell('x'), { epoch: 1 })), ['epoch_refused']);
});

test('an end order sends TERM, and KILL when the grace is over, again until all is gone', () => {
  const world = running();
  assert.deepEqual(world.feed(end(7)), ['ending_begun']);
  assert.deepEqual(world.toDo(), ['7#1 signal end#0#1']);
  world.time += 4999;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  world.time += 1;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['kill_due']);
  assert.deepEqual(world.toDo(), ['7#1 signal end#1#1']);
  world.time += 2000;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['kill_due']);
  world.feed(killed(1, 9, world.time), swept(ID));
  assert.equal(endReport(world).cause, 'ended');
});

test('less grace in a later end order brings KILL forward, more does not delay it', () => {
  const world = running();
  world.feed(end(7, 1, 5000));
  assert.deepEqual(world.feed(end(7, 1, 100)), ['ending_hastened']);
  assert.deepEqual(world.feed(end(7, 1, 9000)), []);
});

test('a process that had ended before the end order came ended by itself', () => {
  const world = running();
  world.time = 5000;
  world.feed(end(7), exited(1, 0, 4999), swept(ID));
  assert.equal(endReport(world).cause, 'exited');
});

test('an epoch that is ended before it was launched starts nothing', () => {
  const world = new World();
  world.feed(order(7, shell('x')));
  assert.deepEqual(world.feed(end(7)), ['epoch_ended']);
  assert.deepEqual(world.feed(prepared(ID)), []);
  assert.equal(endReport(world).cause, 'ended');
});

test('a process that starts while the part is being ended is ended too', () => {
  const world = new World();
  world.feed(order(7, shell('x'), { processesPerNode: 2 }), prepared(ID), started(1));
  world.feed(end(7));
  assert.deepEqual(world.toDo(), ['7#1 signal end#0#1']);
  world.feed(started(2));
  assert.deepEqual(world.toDo(), ['7#1 signal end#0#2']);
});

test('[S11] walltime counts running time only, without the head and without suspended time', () => {
  const world = running({ walltimeMs: 1000 });
  world.time += 600;
  world.feed({ kind: 'order', order: { kind: 'suspend', epochId: ID, turn: 1 } });
  assert.deepEqual(world.toDo(), ['7#1 signal turn#1']);
  assert.deepEqual(world.feed(process('stopped', 1)), ['process_stopped', 'epoch_suspended']);
  world.time += 100_000;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  world.feed({ kind: 'order', order: { kind: 'resume', epochId: ID, turn: 2 } });
  assert.deepEqual(world.feed(process('continued', 1)), ['process_continued', 'epoch_resumed']);
  world.time += 399;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  world.time += 1;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['ending_begun']);
  world.feed(killed(1, 15, world.time), swept(ID));
  assert.equal(endReport(world).cause, 'timeout');
  assert.deepEqual(world.reports().slice(0, 3), [
    '7#1 task_started',
    '7#1 task_suspended',
    '7#1 task_resumed',
  ]);
});

test('[W6] an order of an older turn than one that was heard changes nothing', () => {
  const world = running();
  const turn = (kind: 'suspend' | 'resume', number: number): string[] =>
    world.feed({ kind: 'order', order: { kind, epochId: ID, turn: number } });
  assert.deepEqual(turn('suspend', 1), ['suspend_wanted']);
  assert.deepEqual(turn('suspend', 1), []);
  world.feed(process('stopped', 1));
  assert.deepEqual(turn('resume', 2), ['resume_wanted']);
  world.feed(process('continued', 1));
  assert.deepEqual(turn('suspend', 1), [], 'it comes late');
  assert.deepEqual(turn('resume', 4), ['resume_wanted'], 'turn 3 was never sent');
  assert.deepEqual(turn('suspend', 3), []);
  assert.deepEqual(turn('suspend', 5), ['suspend_wanted']);
  const told = [...world.state.reports.values()].map((report) => 'turn' in report && report.turn);
  assert.deepEqual(told, [false, 1, 2]);
  world.assertReplays();
});

test('a process that somebody else stops is suspended, never ended, and can be resumed', () => {
  const world = running();
  assert.deepEqual(world.feed(process('stopped', 1)), ['process_stopped', 'epoch_suspended']);
  const resume: RunnerInput = { kind: 'order', order: { kind: 'resume', epochId: ID, turn: 1 } };
  assert.deepEqual(world.feed(resume), ['resume_wanted']);
  assert.deepEqual(world.toDo(), ['7#1 signal turn#1']);
  world.feed(process('continued', 1));
  assert.equal(world.epoch(ID).run?.suspended, false);
});

test('[G22] what a site suspended by itself goes on only by a word that is new', () => {
  const world = running();
  world.feed(process('stopped', 1));
  const resume = (turn: number): RunnerInput => {
    return { kind: 'order', order: { kind: 'resume', epochId: ID, turn, isOnce: true } };
  };
  assert.deepEqual(world.feed(resume(0)), []);
  assert.deepEqual(world.feed(resume(1)), ['resume_wanted']);
  world.feed(process('continued', 1));
  world.feed(process('stopped', 1));
  assert.deepEqual(world.feed(resume(1)), [], 'told again, not asked again');
});

test('[S11] a task that stops itself goes on using up its walltime', () => {
  const world = running({ walltimeMs: 1000 });
  assert.deepEqual(world.feed(process('stopped', 1)), ['process_stopped', 'epoch_suspended']);
  world.time += 999;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  world.time += 1;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['ending_begun']);
});

test('a part is suspended when all of its processes are, and resumed with the first', () => {
  const world = running({ processesPerNode: 2 });
  assert.deepEqual(world.feed(process('stopped', 1)), ['process_stopped']);
  assert.deepEqual(world.feed(process('stopped', 2)), ['process_stopped', 'epoch_suspended']);
  assert.deepEqual(world.feed(process('continued', 2)), ['process_continued', 'epoch_resumed']);
});

test('a lease counts from when the answered heartbeat was sent', () => {
  const world = new World();
  world.feed({ kind: 'heard', sentAt: 900 });
  world.feed(order(7, shell('x'), { onNodeLoss: { kind: 'lease', leaseMs: 1000 } }));
  world.feed(prepared(ID), started(1));
  world.time = 1900;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  assert.deepEqual(world.feed({ kind: 'heard', sentAt: 1850 }), ['heard']);
  world.time = 2850;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  world.time = 2851;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['ending_begun']);
  world.feed(killed(1, 15, world.time), swept(ID));
  assert.equal(endReport(world).cause, 'lease_expired');
});

test('what the launcher ended as its lease was over is reported as such', () => {
  const world = new World();
  world.feed({ kind: 'heard', sentAt: 900 });
  const leased = { onNodeLoss: { kind: 'lease', leaseMs: 1000 }, processesPerNode: 2 } as const;
  world.feed(order(7, shell('x'), leased), prepared(ID), started(1), started(2));
  const ended = killed(1, 9, 1900);
  assert.ok(ended.kind === 'process' && ended.event.kind === 'exited');
  const byLauncher: RunnerInput = { kind: 'process', event: { ...ended.event, leaseOver: true } };
  assert.deepEqual(world.feed(byLauncher), ['ending_begun', 'process_exited']);
  assert.deepEqual(world.feed({ kind: 'tick' }), ['kill_due']);
  world.feed(killed(2, 9, 1900), swept(ID));
  assert.equal(endReport(world).cause, 'lease_expired');
  world.assertReplays();
});

test('[N9] an agent that stood still meanwhile reports so too, whatever it began then', () => {
  for (const walltimeMs of [null, 2000]) {
    const world = new World();
    world.feed({ kind: 'heard', sentAt: 900 });
    const leased = { onNodeLoss: { kind: 'lease', leaseMs: 1000 }, walltimeMs } as const;
    world.feed(order(7, shell('x'), leased), prepared(ID), started(1));
    world.time = 5000;
    assert.deepEqual(world.feed({ kind: 'tick' }), ['ending_begun']);
    const ended = killed(1, 9, 1900);
    assert.ok(ended.kind === 'process' && ended.event.kind === 'exited');
    world.feed({ kind: 'process', event: { ...ended.event, leaseOver: true } }, swept(ID));
    assert.equal(endReport(world).cause, 'lease_expired');
    world.assertReplays();
  }
});

test('nothing is launched after its lease, nor before the head was heard since the boot', () => {
  for (const heardAt of [null, 900]) {
    const world = new World();
    if (heardAt !== null) world.feed({ kind: 'heard', sentAt: heardAt });
    world.feed(order(7, shell('x'), { onNodeLoss: { kind: 'lease', leaseMs: 1000 } }));
    world.time = 1901;
    assert.deepEqual(world.feed(prepared(ID)), ['epoch_ended']);
    assert.equal(endReport(world).cause, 'lease_expired');
  }
});

test('a start that reaches the launcher after its lease is no failure of node or job', () => {
  const world = new World();
  world.feed({ kind: 'heard', sentAt: 900 });
  world.feed(order(7, shell('x'), { onNodeLoss: { kind: 'lease', leaseMs: 1000 } }), prepared(ID));
  const expected = ['ending_begun', 'process_lost', 'sweep_begun'];
  assert.deepEqual(world.feed(failed(1, 'lease', 62)), expected);
  world.feed(swept(ID));
  const { cause, nodeFault } = endReport(world);
  assert.deepEqual({ cause, nodeFault }, { cause: 'lease_expired', nodeFault: false });
});

test('a start that hangs is ended like what runs', () => {
  const world = new World();
  world.feed(order(7, shell('x')), prepared(ID), end(7));
  assert.deepEqual(world.toDo(), ['7#1 signal end#0#0']);
  world.time += 5000;
  world.feed({ kind: 'tick' });
  assert.deepEqual(world.toDo(), ['7#1 signal end#1#0']);
  world.feed(killed(1, 9, world.time), swept(ID));
  assert.equal(endReport(world).cause, 'ended');
});

test('epochs without a lease run on without a head, however long', () => {
  const world = new World();
  world.feed({ kind: 'heard', sentAt: 900 });
  world.feed(order(7, shell('x'), { onNodeLoss: { kind: 'requeue' } }), prepared(ID), started(1));
  world.feed(order(8, shell('x'), { onNodeLoss: { kind: 'wait' } }), prepared(idOf(8)), started(2));
  world.time = 1e9;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
});

test('one process that cannot start ends the others and says why', () => {
  const world = new World();
  const argv = { kind: 'argv', argv: ['./x'] } as const;
  world.feed(order(7, argv, { processesPerNode: 2 }), prepared(ID), started(1));
  assert.deepEqual(world.feed(failed(2, 'exec', 2)), ['process_failed', 'ending_begun']);
  world.feed(killed(1, 15, 1500), swept(ID));
  const { cause, detail, nodeFault } = endReport(world);
  assert.equal(cause, 'launch_failed');
  assert.equal(
    detail,
    'cannot execute ./x: No such file or directory (ENOENT): it is not there, or what its first ' +
      'line names is not (as with lines that end in CR LF)',
  );
  assert.equal(nodeFault, false);
});

test('a script whose first line names what is not there says so', () => {
  const world = new World();
  const script = { kind: 'script', text: '#!/no/such\necho', args: [] } as const;
  world.feed(order(7, script), prepared(ID), failed(1, 'exec', 2), swept(ID));
  assert.match(endReport(world).detail ?? '', /\(ENOENT\): what its first line .*: #!\/no\/such$/);
});

for (const [stage, nodeFault] of [
  ...(['fork', 'cgroup', 'limits', 'credentials'] as const).map((stage) => [stage, true] as const),
  ...(['chdir', 'stdin', 'stdout', 'stderr', 'exec'] as const).map((s) => [s, false] as const),
]) {
  test(`a start that fails at ${stage} is ${nodeFault ? '' : 'not '}the node's fault`, () => {
    const world = new World();
    world.feed(order(7, shell('x')), prepared(ID), failed(1, stage, 11), swept(ID));
    assert.equal(endReport(world).cause, 'launch_failed');
    assert.equal(endReport(world).nodeFault, nodeFault);
  });
}

test('what cannot be prepared is a failed launch with the reason', () => {
  const world = new World();
  world.feed(order(7, shell('x')));
  const failure = { detail: 'user alice does not exist on node n1', nodeFault: false };
  assert.deepEqual(world.feed(prepareFailed(failure, 'launch_failed')), ['epoch_ended']);
  assert.equal(endReport(world).cause, 'launch_failed');
  assert.equal(endReport(world).detail, failure.detail);
});

test('a kill by the kernel for want of memory is out_of_memory', () => {
  const world = running();
  world.feed(killed(1, 9, 1500), swept(ID, { outOfMemory: true }));
  assert.equal(endReport(world).cause, 'out_of_memory');
});

test('a program that lost a helper to the kernel and still succeeded has exited', () => {
  const world = running();
  world.feed(exited(1, 0, 1500), swept(ID, { outOfMemory: true }));
  assert.equal(endReport(world).cause, 'exited');
});

test('memory over the limit, seen by polling, ends at once and as out_of_memory', () => {
  const world = running();
  assert.deepEqual(world.feed({ kind: 'memory_exceeded', epochId: ID }), [
    'ending_begun',
    'kill_due',
  ]);
  assert.deepEqual(world.toDo(), ['7#1 signal end#1#1']);
  world.feed(killed(1, 9, 1500), swept(ID));
  assert.equal(endReport(world).cause, 'out_of_memory');
});

test('processes that the launcher took with it are lost, by the fault of the node', () => {
  const world = running({ processesPerNode: 2 });
  assert.deepEqual(world.feed(process('lost', 1)), ['process_lost']);
  assert.deepEqual(world.feed(process('lost', 2)), ['process_lost', 'sweep_begun']);
  world.feed(swept(ID));
  assert.equal(endReport(world).cause, 'lost');
  assert.equal(endReport(world).nodeFault, true);
});

test('a lost process is told in the words of its site, where it has any', () => {
  const world = running();
  const why = 'its site says NODE_FAIL, and not how it ended';
  world.feed({ kind: 'process', event: { kind: 'lost', launchId: 1, why } }, swept(ID));
  assert.equal(endReport(world).detail, why);
  world.assertReplays();
});

test('a signal order is carried out once, whatever its repetitions', () => {
  const world = running();
  const order = { kind: 'signal', epochId: ID, signal: 10, serial: 4 } as const;
  assert.deepEqual(world.feed({ kind: 'order', order }), ['signal_wanted']);
  assert.deepEqual(world.feed({ kind: 'order', order: { ...order, serial: 3 } }), []);
});

test('[J25] the signal before the time limit comes once, its lead before the end, over restarts', () => {
  const warning = { leadMs: 400, signal: 12 };
  const world = running({ walltimeMs: 1000, warning });
  world.time += 500;
  world.feed(
    { kind: 'order', order: { kind: 'suspend', epochId: ID, turn: 1 } },
    process('stopped', 1),
  );
  world.time += 5000;
  assert.deepEqual(world.feed({ kind: 'tick' }), [], 'its clock stands still');
  world.feed(
    { kind: 'order', order: { kind: 'resume', epochId: ID, turn: 2 } },
    process('continued', 1),
  );
  world.time += 99;
  assert.deepEqual(world.feed({ kind: 'tick' }), []);
  assert.equal(deadlineOf(world.state, world.epoch(ID)), world.time + 1);
  // An agent that starts again after it was due sends it then.
  const again = emptyState();
  const sum = structuredClone(sumOf(world.state));
  apply(again, [{ kind: 'state_restored', sum }]);
  const later = { at: world.time + 50, monotonic: world.time + 50 };
  const wanted = [{ kind: 'warning_due', epochId: ID, signal: 12 }];
  assert.deepEqual(decide(again, { kind: 'tick' }, later), wanted);
  world.time += 1;
  assert.deepEqual(world.events({ kind: 'tick' }), wanted);
  assert.equal(deadlineOf(world.state, world.epoch(ID)), world.time + 400);
  const after = emptyState();
  apply(after, [{ kind: 'state_restored', sum: structuredClone(sumOf(world.state)) }]);
  const soon = { at: world.time + 1, monotonic: world.time + 1 };
  assert.deepEqual(decide(after, { kind: 'tick' }, soon), [], 'nor does a restart send it again');
  world.time += 400;
  assert.deepEqual(world.feed({ kind: 'tick' }), ['ending_begun']);
  world.assertReplays();
});

test('a signal says whom it is for, when it was asked for and before the time limit', () => {
  const world = running({ walltimeMs: 500, warning: { signal: 12, leadMs: 400, to: 'main' } });
  const order = { kind: 'signal', epochId: ID, signal: 10, serial: 1, to: 'others' } as const;
  const asked = { kind: 'signal_wanted', epochId: ID, signal: 10, serial: 1, to: 'others' };
  assert.deepEqual(world.events({ kind: 'order', order }), [asked]);
  world.time += 100;
  const due = { kind: 'warning_due', epochId: ID, signal: 12, to: 'main' };
  assert.deepEqual(world.events({ kind: 'tick' }), [due]);
});

test('usage is summed over the processes, the peak is the highest', () => {
  const world = running({ processesPerNode: 2 });
  world.feed(exited(1, 0, 1500), exited(2, 0, 1600));
  world.feed({
    kind: 'swept',
    epochId: ID,
    outOfMemory: false,
    memoryPeakBytes: 5000,
    silent: false,
    leaves: false,
  });
  assert.deepEqual(endReport(world).usage, { userUs: 20, systemUs: 2, memoryPeakBytes: 5000 });
  assert.equal(endReport(world).at, 1600);
});

test('a site that refuses a start is at fault, but not for a job of its users that is gone', () => {
  const faultOf = (order: ReturnType<typeof launch>) => {
    const world = new World();
    world.feed({ kind: 'order', order }, prepared(order.epochId));
    const refusal: RunnerInput = {
      kind: 'process',
      event: { kind: 'refused', launchId: 1, why: 'its site knows no such job any more' },
    };
    const [failure] = world.events(refusal);
    return failure?.kind === 'process_failed' && failure.failure.nodeFault;
  };
  assert.equal(faultOf(launch(1, shell('x'))), true);
  const foreign = { job: '7', index: null };
  assert.equal(faultOf(launch(1, shell('x'), { foreign })), false);
});

test('[G3] a job that ran at its site, and that a new gateway does not find there, is lost', () => {
  const world = running({ foreign: { job: '7', index: null } });
  const why = 'its site knows no such job any more';
  world.feed({ kind: 'process', event: { kind: 'refused', launchId: 1, why } }, swept(ID));
  const { cause, detail } = endReport(world);
  assert.deepEqual([cause, detail], ['lost', why]);
});

test('[G10] what a site answers is told with the end, and is no fault of the node', () => {
  const world = new World();
  const order = launch(1, shell('x'));
  world.feed({ kind: 'order', order }, prepared(order.epochId));
  const why = 'sbatch: error: Invalid qos specification';
  world.feed({ kind: 'process', event: { kind: 'refused', launchId: 1, why, there: 'refused' } });
  world.feed({
    kind: 'swept',
    epochId: order.epochId,
    outOfMemory: false,
    memoryPeakBytes: null,
    silent: false,
    leaves: false,
  });
  const { cause, nodeFault, there, detail } = endReport(world);
  assert.deepEqual(
    { cause, nodeFault, there, detail },
    {
      cause: 'launch_failed',
      nodeFault: false,
      there: 'refused',
      detail: why,
    },
  );
});

test('[G19] what was ended at its site by hand is told as that, unless the node ended it', () => {
  const cancelledThere = 'ended at its site: CANCELLED';
  const over = (world: World): void => {
    const exit = killed(1, 15, 2000);
    assert.ok(exit.kind === 'process' && exit.event.kind === 'exited');
    world.feed({ kind: 'process', event: { ...exit.event, cancelledThere } }, swept(ID));
  };
  const world = running();
  over(world);
  const { cause, there, detail } = endReport(world);
  assert.deepEqual([cause, there, detail], ['exited', 'cancelled', cancelledThere]);
  const ended = running();
  ended.feed(end(7));
  over(ended);
  assert.deepEqual([endReport(ended).cause, endReport(ended).there], ['ended', undefined]);
});
