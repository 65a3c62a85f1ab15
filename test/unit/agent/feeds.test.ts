// Standard input on its last way, from the head's pieces into a process's pipe.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Feeds } from '../../../src/agent/feeds.ts';
import type { EpochId } from '../../../src/core/model/ids.ts';
import { adoptionInputs } from '../../../src/core/runner/adopt.ts';
import type { RunnerState } from '../../../src/core/runner/state.ts';
import { systemFiles } from '../../../src/os/files.ts';
import { systemPipes } from '../../../src/os/pipes.ts';
import type { AgentToHead } from '../../../src/wire/messages.ts';

const EPOCH = '42#1' as EpochId;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

class World {
  readonly directory = mkdtempSync(path.join(tmpdir(), 'weft-feeds-'));
  readonly said: AgentToHead[] = [];
  isStarted = false;
  #heard: () => void = () => undefined;

  feeds(): Feeds {
    return new Feeds({
      ...{ pipes: systemPipes, files: systemFiles, log: SILENT, directory: this.directory },
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
  const said = await world.answers(4);
  const offsets = said.map((one) => one.kind === 'stdin_ack' && [one.offset, one.end]);
  const before = [500_000, false];
  assert.deepEqual(offsets, [before, before, before, [1_000_000, true]]);
  assert.ok(reader.stdout !== null);
  const [sum] = (await once(reader.stdout, 'data')) as [Buffer];
  assert.equal(sum.toString().slice(0, 64), createHash('sha256').update(all).digest('hex'));
  assert.deepEqual(readdirSync(world.directory), [], 'the pipe is gone');
});

test('a pipe that an earlier agent left makes its process lost, however it ended', () => {
  using world = new World();
  const feeds = world.feeds();
  execFileSync('mkfifo', [feeds.pathOf(EPOCH)]);
  feeds.findBroken();
  assert.ok(feeds.isBroken(EPOCH) && !feeds.isBroken('42#2' as EpochId));
  assert.deepEqual(readdirSync(world.directory), []);
  const processes = [{ launchId: 7, state: 'running' }];
  const epochs = new Map([[EPOCH, { order: { epochId: EPOCH }, processes }]]);
  const known = [{ launchId: 7, state: 'running' as const }];
  const inputs = adoptionInputs({ epochs } as never as RunnerState, known, (epochId) =>
    feeds.isBroken(epochId),
  );
  assert.deepEqual(inputs.slice(1), [{ kind: 'process', event: { kind: 'lost', launchId: 7 } }]);
});
