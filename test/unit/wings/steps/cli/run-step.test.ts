// A step in the place of a command: what comes while it is only being asked for.

import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';
import type { Context } from '../../../../../src/kernel/cli/context.ts';
import { runStep } from '../../../../../src/wings/steps/cli/run-step.ts';
import { Channel } from '../../../../../src/wings/steps/wire/channel.ts';
import {
  FROM_STEP,
  FrameReader,
  frame,
  TO_STEP,
} from '../../../../../src/wings/steps/wire/frames.ts';

const { SIGINT, SIGHUP } = constants.signals;

/** The node's end of a line: each signal is how its program ends. */
function serve(line: ReturnType<typeof duplexPair>[1]): void {
  const reader = new FrameReader();
  const channel: Channel = new Channel({
    bytes: (bytes) => {
      const frames = reader.take(bytes);
      for (const { kind, payload } of frames.ok ? frames.value : []) {
        if (kind !== TO_STEP.signal) continue;
        const end = Buffer.alloc(28);
        end.writeUInt32LE(payload[0] ?? 0);
        channel.write(frame(FROM_STEP.ended, end));
      }
      channel.take(bytes.length);
    },
    drained: () => undefined,
    joined: () => undefined,
    bye: () => line.end(),
  });
  line.on('data', (bytes: Buffer) => channel.feed(bytes));
  channel.open((bytes) => line.write(bytes));
}

test('[Z4] a signal that comes before the answer that a step is started is the step’s', async () => {
  const before = process.listenerCount('SIGINT');
  let whileDialled = before;
  const api = {
    call: async () => {
      process.emit('SIGINT', 'SIGINT');
      return { id: '42.0', processes: [{ rank: 0, node: 'n1' }] };
    },
    dial: async () => {
      whileDialled = process.listenerCount('SIGINT');
      const [stream, line] = duplexPair();
      serve(line);
      return { stream, rest: Buffer.alloc(0) };
    },
  };
  const context = {
    api: async () => api,
    terminal: {},
    note: () => undefined,
    out: () => undefined,
    error: () => undefined,
  } as unknown as Context;
  const code = await runStep(context, {
    target: { task: '42', node: null },
    argv: ['sleep', '600'],
    count: 1,
    perNode: false,
    directory: undefined,
    environment: {},
    label: false,
    terminal: false,
  });
  assert.equal(code, 128 + SIGINT);
  assert.equal(whileDialled, before + 1, 'nor is one that comes while its line is opened');
  assert.equal(process.listenerCount('SIGINT'), before);
});

test('one SIGTERM ends the command of a step whose task is suspended, and says so', async () => {
  const words = 'It is suspended on n1.x since 2026-11-30T10:00:00Z. Node n1.x is paused by anna.';
  const api = {
    call: async (name: string) => {
      if (name === 'getJob') return { state: 'suspended', taskCounts: { suspended: 1 } };
      if (name === 'explainJob') return { state: 'suspended', words };
      setImmediate(() => process.emit('SIGTERM', 'SIGTERM'));
      return { id: '42.0', processes: [{ rank: 0, node: 'n1' }] };
    },
    dial: async () => {
      const [stream, line] = duplexPair();
      const channel: Channel = new Channel({
        // A program that stands still takes no signal.
        bytes: (bytes) => channel.take(bytes.length),
        drained: () => undefined,
        joined: () => undefined,
        bye: () => channel.end(),
      });
      line.on('data', (bytes: Buffer) => channel.feed(bytes));
      channel.open((bytes) => line.write(bytes));
      return { stream, rest: Buffer.alloc(0) };
    },
  };
  const notes: string[] = [];
  const note = (line: string): void => void notes.push(line);
  const context = { api: async () => api, terminal: {}, note } as unknown as Context;
  const code = await runStep(context, {
    target: { task: '42', node: null },
    argv: ['sleep', '600'],
    count: 1,
    perNode: false,
    directory: undefined,
    environment: {},
    label: false,
    terminal: false,
  });
  assert.equal(code, 128 + SIGHUP);
  assert.deepEqual(notes, [
    'job 42 is suspended on n1.x. Node n1.x is paused by anna.',
    'step 42.0: its task is suspended, and takes no signal: hung up',
  ]);
});

test('[Z12] a head is told of binding only where it is asked for', async () => {
  const bodies: object[] = [];
  const api = {
    call: async (_: string, { body }: { readonly body: object }) => {
      bodies.push(body);
      throw new Error('seen');
    },
  };
  const context = { api: async () => api, terminal: {} } as unknown as Context;
  const wish = { argv: ['true'], count: 1, perNode: false, directory: undefined, environment: {} };
  const own = { ...wish, target: { task: '42', node: null }, label: false, terminal: false };
  for (const bind of ['none', 'core'] as const)
    await assert.rejects(runStep(context, { ...own, bind }), /seen/);
  assert.deepEqual(
    bodies.map((body) => 'bind' in body),
    [false, true],
  );
});
