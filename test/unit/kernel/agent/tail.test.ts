// The end of output that is longer than the head keeps.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { OutputShipper } from '../../../../src/kernel/agent/outputs.ts';
import type { LaunchOrder } from '../../../../src/kernel/model/orders.ts';
import { systemClock } from '../../../../src/kernel/os/clock.ts';
import { systemFiles } from '../../../../src/kernel/os/files.ts';
import type { AgentToHead, HeadToAgent } from '../../../../src/kernel/wire/messages.ts';

/** What is said of a file of this text under a limit of 100 bytes. */
function shipped(text: string): AgentToHead[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-tail-'));
  const file = path.join(folder, 'out');
  writeFileSync(file, text);
  const said: AgentToHead[] = [];
  const shipper = new OutputShipper({
    clock: systemClock,
    files: systemFiles,
    isStarted: () => true,
    send: (message) => said.push(message) > 0,
  });
  try {
    const order = { epochId: '1#1', nodeRank: 0 } as LaunchOrder;
    shipper.watch(order, null, [{ rank: 0, stream: 'stdout', path: file }]);
    shipper.finish(order.epochId, () => undefined);
    shipper.connect({ kind: 'welcome', logBytesMax: 100 } as unknown as Welcome);
    return said;
  } finally {
    shipper.disconnect();
    rmSync(folder, { recursive: true });
  }
}

type Welcome = Extract<HeadToAgent, { kind: 'welcome' }>;

function parts(said: readonly AgentToHead[]) {
  const pieces = said.filter((one) => one.kind === 'log');
  const text = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString();
  const last = pieces.at(-1);
  return [pieces.map(({ bytes }) => text(bytes)).join(''), last?.dropped, text(last?.tail)];
}

test('the last bytes travel with the word that the file is complete', () => {
  const begin = 'a'.repeat(100);
  const long = `${begin}${'b'.repeat(500)}the end`;
  const tail = `${'b'.repeat(18)}the end`;
  const some = (text: string) => parts(shipped(text));
  assert.deepEqual(some(long).slice(-2), [482, tail]);
  assert.deepEqual(some(`${begin}more`).slice(-2), [0, 'more'], 'nothing is left out');
  assert.deepEqual(some('short').slice(-2), [0, '']);
});
