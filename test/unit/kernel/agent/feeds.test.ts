// Standard input on its last way, from the head's pieces into a process's pipe.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { FEED_BYTES_MAX, Feeds } from '../../../../src/kernel/agent/feeds.ts';
import type { EpochId } from '../../../../src/kernel/model/ids.ts';
import { systemFiles } from '../../../../src/kernel/os/files.ts';
import { systemPipes } from '../../../../src/kernel/os/pipes.ts';
import type { FeedPipe, Pipes } from '../../../../src/kernel/ports/pipes.ts';
import { adoptionInputs } from '../../../../src/kernel/runner/adopt.ts';
import type { RunnerState } from '../../../../src/kernel/runner/state.ts';
import type { AgentToHead } from '../../../../src/kernel/wire/messages.ts';

const EPOCH = '42#1' as EpochId;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

class World {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'weft-feeds-'));
  readonly said: AgentToHead[] = [];
  isStarted = false;
  #heard: () => void = () => undefined;

  feeds(pipes: Pipes = systemPipes): Feeds {
    return new Feeds({
      pipes,
      files: systemFiles,
      log: SILENT,
      directory: this.directory,
      isStarted: () => this.isStarted,
      send: (message) => {
        this.said.push(message);
        this.#heard();
        return true;
      },
    });
  }

  async answers(count: number): Promise<readonly AgentToHead[]> {
    while (this.said.length < count) {
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
    return this.said;
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }
}

function piece(offset: number, bytes: Uint8Array, end = false) {
  return { kind: 'stdin', epochId: EPOCH, offset, bytes, end } as const;
}

test('a slow reader gets every byte once, whatever is sent twice, and then the end', async () => {
  using world = new World();
  const feeds = world.feeds();
  await feeds.open(EPOCH, null);
  const reader = spawn('sha256sum', {
    stdio: [openSync(feeds.pathOf(EPOCH), 'r'), 'pipe', 'inherit'],
  });
  const all = randomBytes(1_000_000);
  feeds.take(piece(0, all.subarray(0, 10)));
  assert.deepEqual(world.said, [], 'without a reader nothing is taken');
  world.isStarted = true;
  const half = all.subarray(0, 500_000);
  feeds.take(piece(0, half));
  feeds.take(piece(0, half));
  feeds.take(piece(600_000, all.subarray(600_000)));
  feeds.take(piece(400_000, all.subarray(400_000), true));
  const said = await world.answers(2);
  const offsets = said.map((one) => one.kind === 'stdin_ack' && [one.offset, one.end]);
  assert.deepEqual(offsets, [
    [500_000, false],
    [1_000_000, true],
  ]);
  assert.ok(reader.stdout !== null);
  const [sum] = (await once(reader.stdout, 'data')) as [Buffer];
  assert.equal(sum.toString().slice(0, 64), createHash('sha256').update(all).digest('hex'));
  assert.deepEqual(readdirSync(world.directory), [], 'the pipe is gone');
});

test('a pipe that an earlier agent left makes its process lost, however it ended', () => {
  using world = new World();
  const feeds = world.feeds();
  execFileSync('mkfifo', [feeds.pathOf(EPOCH)]);
  execFileSync('mkfifo', [feeds.pathOf('7#1' as EpochId)]);
  feeds.takeUp([EPOCH]);
  assert.ok(!feeds.isBroken('7#1' as EpochId), 'no journal knows it');
  assert.ok(feeds.isBroken(EPOCH) && !feeds.isBroken('42#2' as EpochId));
  assert.deepEqual(readdirSync(world.directory), []);
  const processes = [{ launchId: 7, state: 'running' }];
  const epochs = new Map([[EPOCH, { order: { epochId: EPOCH }, run: { processes } }]]);
  const known = [{ launchId: 7, state: 'running' as const }];
  const inputs = adoptionInputs({ epochs } as never as RunnerState, known, 0, (epochId) =>
    feeds.isBroken(epochId),
  );
  assert.deepEqual(inputs.slice(1), [{ kind: 'process', event: { kind: 'lost', launchId: 7 } }]);
  feeds.close(EPOCH);
  assert.ok(!feeds.isBroken(EPOCH), 'forgotten when the epoch is over');
});

function pipesOf(write: FeedPipe['write']): Pipes {
  const pipe: FeedPipe = { write, end: async () => undefined, remove: () => undefined };
  return { make: async () => pipe, resume: () => null, remove: () => undefined };
}

test('what could not be written gets no answer, and is written when it comes again', async () => {
  using world = new World();
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  const written: string[] = [];
  let isFull = true;
  const tried = Promise.withResolvers<void>();
  const feeds = world.feeds(
    pipesOf(async (bytes) => {
      tried.resolve();
      if (isFull) throw full;
      written.push(Buffer.from(bytes).toString());
    }),
  );
  await feeds.open(EPOCH, null);
  world.isStarted = true;
  feeds.take(piece(0, Buffer.from('one ')));
  feeds.take(piece(4, Buffer.from('two'), true));
  await tried.promise;
  await new Promise(setImmediate);
  assert.deepEqual(world.said, []);
  isFull = false;
  feeds.take(piece(0, Buffer.from('one ')));
  feeds.take(piece(4, Buffer.from('two'), true));
  const said = await world.answers(2);
  const answer = { kind: 'stdin_ack', epochId: EPOCH };
  assert.deepEqual(said, [
    { ...answer, offset: 4, end: false },
    { ...answer, offset: 7, end: true },
  ]);
  assert.deepEqual(written, ['one ', 'two']);
});

test('of a process that does not read no more than the bound is held', async () => {
  using world = new World();
  const written: (() => void)[] = [];
  const write = () => new Promise<void>((resolve) => written.push(resolve));
  const feeds = world.feeds(pipesOf(write));
  await feeds.open(EPOCH, null);
  world.isStarted = true;
  const bytes = new Uint8Array(FEED_BYTES_MAX / 4);
  const send = (from: number, to: number): void => {
    for (let at = from; at < to; at += 1) feeds.take(piece(at * bytes.length, bytes));
  };
  /** Reads until nothing more comes; how many pieces the head has been told of. */
  const read = async (): Promise<number> => {
    do {
      written.shift()?.();
      // A write begins in a later turn than the end of the one before.
      await new Promise(setImmediate);
    } while (written.length > 0);
    const last = world.said.at(-1);
    return last?.kind === 'stdin_ack' ? last.offset / bytes.length : 0;
  };
  send(0, 40);
  await new Promise(setImmediate);
  assert.equal(await read(), 4, 'what came beyond the bound was left where it was');
  assert.equal(world.said.length, 4);
  send(4, 5);
  await new Promise(setImmediate);
  assert.equal(await read(), 5, 'and is taken when the process has read');
});
