// A head that is held up, as by a machine that swaps, and finds its clock far ahead.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { WebSocket } from 'ws';
import { encode } from '../../../../../src/kernel/wire/codec.ts';
import { eventually, startAgent, startWorld } from './fixture.ts';

const TIMEOUT_MS = 2000;
const LOAD = { load1: 0, memoryFreeBytes: 1, diskFreeBytes: 1 };

test('[N3] a head that was held up hears what agents said meanwhile before it judges their silence', async (t) => {
  const world = await startWorld(t, { settings: { nodeTimeoutMs: TIMEOUT_MS } });
  const agent = await startAgent(t, world, 'n1');
  // As in the middle of a request: what comes next in this process are the timers.
  await readFile(import.meta.filename);
  agent.socket.send(encode({ kind: 'heartbeat', sentAt: 0, at: 0, load: LOAD }));
  // Nothing of this process runs, the head neither; the message waits in its socket.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1.2 * TIMEOUT_MS);
  const isCutOff = () => agent.socket.readyState !== WebSocket.OPEN;
  const isHeard = () => agent.messages.some(({ kind }) => kind === 'heartbeat_ack');
  await eventually(() => isCutOff() || isHeard());
  const [node] = world.head.engine.state.nodes.values();
  assert.deepEqual([isCutOff(), node?.unreachableSince], [false, null]);
});
