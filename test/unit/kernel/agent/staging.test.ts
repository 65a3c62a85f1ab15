// The agent's shell and the files of tasks: brought before the start, kept before the end is told.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { err, ok, type Result } from '../../../../src/kernel/base/result.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import type { EndReport, LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import type { Stored } from '../../../../src/kernel/model/staging.ts';
import type { Staging, StagingFailure } from '../../../../src/kernel/ports/staging.ts';
import { FakeWorld } from './fake-world.ts';
import { idOf, launch, shell } from './orders.ts';

const ID = idOf(1);
const DIRECTORY = '/state/work/1-1';
const INPUTS = 'a'.repeat(64) as BlobHash;
const PRIVATE = { kind: 'private' } as const;
const KEPT: Stored = { files: 1, bytes: 2, leftOut: 0 };

interface Call<T> {
  readonly directory: string;
  readonly signal: AbortSignal;
  answer(result: T): void;
}

/** Answers when the test says so, or when it is given up. */
class FakeStaging implements Staging {
  readonly brought: (Call<Result<null, StagingFailure>> & { readonly owner: unknown })[] = [];
  answersAborts = true;
  readonly kept: (Call<Result<Stored, string>> & { readonly uid: number | null })[] = [];

  bring(_: LaunchOrder, into: Parameters<Staging['bring']>[1], signal: AbortSignal) {
    return new Promise<Result<null, StagingFailure>>((answer) => {
      this.brought.push({ ...into, signal, answer });
      signal.addEventListener('abort', () => {
        if (this.answersAborts) answer(err({ detail: 'over', nodeFault: false }));
      });
    });
  }

  store(_: LaunchOrder, from: Parameters<Staging['store']>[1], signal: AbortSignal) {
    return new Promise<Result<Stored, string>>((answer) => {
      this.kept.push({ ...from, signal, answer });
      signal.addEventListener('abort', () => answer(err('over')));
    });
  }
}

let world = new FakeWorld();
let staging = new FakeStaging();

async function begin(of: Partial<LaunchOrder['staging']> = {}): Promise<void> {
  world = new FakeWorld();
  staging = new FakeStaging();
  world.staging = staging;
  await world.start();
  const wish = { inputs: null, outputs: null, bytesMax: 1000, ...of };
  world.head.order(launch(1, shell('x'), { directory: PRIVATE, staging: wish }));
  await world.clock.settle();
}

async function settle(act: () => void = () => undefined): Promise<void> {
  act();
  await world.clock.settle();
}

/** The process of a task writes a file and ends. */
async function runAndLeave(): Promise<void> {
  world.files.files.set(`${DIRECTORY}/out`, Buffer.from('hi'));
  await settle(() => world.launcher.exit(1, { code: 0 }));
}

function endOf(): EndReport {
  const end = world.head.endOf(ID);
  assert.ok(end);
  return end;
}

const cancel = (more: { readonly discards?: true } = {}) =>
  world.head.order({ kind: 'end', epochId: ID, graceMs: 1000, why: 'cancelled', ...more });

afterEach(async () => {
  await world.kill();
});

test('nothing is started before its files are there', async () => {
  await begin({ inputs: INPUTS });
  assert.equal(world.launcher.started.length, 0);
  const [call] = staging.brought;
  assert.equal(call?.directory, DIRECTORY);
  assert.deepEqual(call.owner, { uid: 1000, gid: 1000 });
  await settle(() => call.answer(ok(null)));
  assert.equal(world.launcher.started[0]?.cwd, DIRECTORY);
});

test('files that cannot be brought are why the task did not start', async () => {
  await begin({ inputs: INPUTS });
  const failure = { detail: 'cannot bring its files: the disk is full', nodeFault: true };
  await settle(() => staging.brought[0]?.answer(err(failure)));
  const { cause, nodeFault, detail } = endOf();
  assert.deepEqual({ cause, nodeFault, detail }, { cause: 'stage_failed', ...failure });
  assert.equal(world.launcher.started.length, 0);
  assert.equal(world.agent?.state.epochs.size, 0);
});

test('a task that is cancelled while its files come never starts, and nothing of it is left', async () => {
  await begin({ inputs: INPUTS });
  world.files.directories.set(`${DIRECTORY}.in`, null);
  await settle(() => cancel());
  assert.equal(endOf().cause, 'ended');
  assert.equal(staging.brought[0]?.signal.aborted, true);
  assert.equal(world.launcher.started.length, 0);
  assert.equal(world.agent?.state.epochs.size, 0);
  assert.deepEqual(world.files.list('/state/work'), []);
});

test('its directory stays until whoever brings files there has let go', async () => {
  await begin({ inputs: INPUTS });
  const removed: string[] = [];
  const remove = world.files.removeTree.bind(world.files);
  world.files.removeTree = (path) => {
    removed.push(path);
    return remove(path);
  };
  const [call] = staging.brought;
  staging.answersAborts = false;
  await settle(() => cancel());
  assert.equal(call?.signal.aborted, true);
  assert.equal(removed.length, 0);
  await settle(() => call.answer(err({ detail: 'over', nodeFault: false })));
  assert.ok(removed.includes(DIRECTORY));
});

test('an agent that was killed while files came brings them again', async () => {
  await begin({ inputs: INPUTS });
  await world.kill();
  await world.start();
  assert.equal(staging.brought.length, 2);
  await settle(() => staging.brought[1]?.answer(ok(null)));
  assert.equal(world.launcher.started.length, 1);
});

test('the end is told when what the task leaves is kept', async () => {
  await begin();
  await runAndLeave();
  assert.deepEqual(world.head.kindsOf(ID), ['task_started', 'task_storing']);
  const [call] = staging.kept;
  assert.equal(call?.directory, DIRECTORY);
  assert.equal(call.uid, 1000);
  await settle(() => call.answer(ok(KEPT)));
  assert.deepEqual(world.head.kindsOf(ID), ['task_started', 'task_storing', 'task_ended']);
  assert.deepEqual(endOf().stored, KEPT);
  assert.deepEqual(world.files.list('/state/work'), []);
  assert.equal(world.agent?.state.epochs.size, 0);
});

test('what cannot be kept is told with the end', async () => {
  await begin();
  await runAndLeave();
  await settle(() => staging.kept[0]?.answer(err('the disk of the head is full')));
  assert.equal(endOf().stored?.problem, 'the disk of the head is full');
});

test('an empty directory is looked at and no more', async () => {
  await begin();
  await settle(() => world.launcher.exit(1, { code: 0 }));
  assert.deepEqual(world.head.kindsOf(ID), ['task_started', 'task_ended']);
  assert.equal(staging.kept.length, 0);
});

test('where nothing is to be kept nobody looks', async () => {
  for (const none of [{ outputs: [], bytesMax: null }, { bytesMax: 0 }]) {
    await begin(none);
    await runAndLeave();
    assert.deepEqual(world.head.kindsOf(ID), ['task_started', 'task_ended']);
    assert.equal(staging.kept.length, 0);
    await world.kill();
  }
});

test('an agent that was killed while files were kept keeps them again, and tells one end', async () => {
  await begin();
  await runAndLeave();
  await world.kill();
  await world.start();
  assert.equal(staging.kept.length, 2);
  await settle(() => staging.kept[1]?.answer(ok(KEPT)));
  const ends = world.head.kindsOf(ID).filter((kind) => kind === 'task_ended');
  assert.equal(ends.length, 1);
});

test('an end while files are kept leaves them their time, unless it discards them', async () => {
  await begin();
  await runAndLeave();
  await settle(() => cancel());
  assert.equal(staging.kept[0]?.signal.aborted, false);
  await settle(() => cancel({ discards: true }));
  assert.equal(staging.kept[0]?.signal.aborted, true);
  assert.match(endOf().stored?.problem ?? '', /cancelled/);
  assert.deepEqual(world.files.list('/state/work'), []);
});
