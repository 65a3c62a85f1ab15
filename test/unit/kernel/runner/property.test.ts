// Any inputs in any order keep the invariants, and each of them given twice changes nothing more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lookAt } from '../../../../sim/agent-look.ts';
import { isSame } from '../../../../src/kernel/base/same.ts';
import { sumOf } from '../../../../src/kernel/runner/books.ts';
import type { RunnerInput } from '../../../../src/kernel/runner/inputs.ts';
import { encode } from '../../../../src/kernel/wire/codec.ts';
import { idOf, launch, shell } from '../agent/orders.ts';
import {
  exited,
  failed,
  killed,
  prepared,
  process,
  started,
  stored,
  swept,
  World,
} from './world.ts';

const jobs = fc.integer({ min: 1, max: 3 });
const epochs = fc.integer({ min: 1, max: 3 });
const launchIds = fc.integer({ min: 1, max: 8 });
const ids = fc.tuple(jobs, epochs).map(([job, epoch]) => idOf(job, epoch));

const orders: fc.Arbitrary<RunnerInput> = fc.oneof(
  fc
    .record({
      job: jobs,
      epoch: epochs,
      processesPerNode: fc.integer({ min: 1, max: 3 }),
      walltimeMs: fc.constantFrom(null, 500),
      onNodeLoss: fc.constantFrom(
        { kind: 'wait' } as const,
        { kind: 'lease', leaseMs: 300 } as const,
      ),
    })
    .map(
      ({ job, ...other }) => ({ kind: 'order', order: launch(job, shell('x'), other) }) as const,
    ),
  fc
    .tuple(ids, fc.integer({ min: 0, max: 500 }), fc.boolean())
    .map(([epochId, graceMs, discards]): RunnerInput => {
      const end = { kind: 'end', epochId, graceMs, why: 'test' } as const;
      return { kind: 'order', order: { ...end, ...(discards ? { discards: true } : {}) } };
    }),
  fc
    .tuple(ids, fc.constantFrom('suspend', 'resume'), fc.integer({ min: 1, max: 20 }))
    .map(
      ([epochId, kind, turn]): RunnerInput => ({ kind: 'order', order: { kind, epochId, turn } }),
    ),
);

const happenings: fc.Arbitrary<RunnerInput> = fc.oneof(
  launchIds.map(started),
  launchIds.map((id) => exited(id, 0, 1000)),
  launchIds.map((id) => killed(id, 9, 1000)),
  launchIds.map((id) => failed(id, 'exec', 2)),
  fc
    .tuple(fc.constantFrom('stopped', 'continued', 'lost'), launchIds)
    .map(([kind, id]) => process(kind, id)),
);

const pauses: fc.Arbitrary<RunnerInput> = fc.oneof(
  fc.integer({ min: 1, max: 1000 }).map((durationMs): RunnerInput => {
    return { kind: 'pause', by: 'alice', durationMs, requeue: false };
  }),
  fc.constant<RunnerInput>({ kind: 'unpause', by: 'alice' }),
  fc.integer({ min: 1, max: 20 }).map((serial): RunnerInput => {
    return { kind: 'order', order: { kind: 'unpause', serial, by: 'olga' } };
  }),
  fc.option(fc.constantFrom('input', 'load')).map((why): RunnerInput => {
    const yielding =
      why === null ? null : ({ kind: 'yield', why, since: 1, requeue: false } as const);
    return { kind: 'yield', yielding };
  }),
);

const steps: fc.Arbitrary<RunnerInput> = fc.oneof(
  { weight: 4, arbitrary: orders },
  { weight: 6, arbitrary: happenings },
  { weight: 2, arbitrary: pauses },
  { weight: 3, arbitrary: ids.map(prepared) },
  {
    weight: 3,
    arbitrary: fc.tuple(ids, fc.boolean()).map(([id, leaves]) => swept(id, { leaves })),
  },
  { weight: 2, arbitrary: ids.map((id) => stored(id)) },
  ids.map((epochId): RunnerInput => ({ kind: 'released', epochId })),
  ids.map((epochId): RunnerInput => ({ kind: 'memory_exceeded', epochId })),
  fc.integer({ min: 1, max: 30 }).map((upTo): RunnerInput => {
    return { kind: 'reports_acknowledged', upTo };
  }),
  fc.integer({ min: 0, max: 5000 }).map((sentAt): RunnerInput => ({ kind: 'heard', sentAt })),
  { weight: 2, arbitrary: fc.constant<RunnerInput>({ kind: 'tick' }) },
);

type Life = readonly (readonly [input: RunnerInput, passedMs: number])[];

function lives(minLength: number): fc.Arbitrary<Life> {
  const step = fc.tuple(steps, fc.integer({ min: 0, max: 200 }));
  return fc.array(step, { minLength, maxLength: 80 });
}

function live(world: World, life: Life, afterEach: () => void = () => undefined): void {
  for (const [input, passedMs] of life) {
    world.time += passedMs;
    // An acknowledgement can only be of what was sent.
    if (input.kind === 'reports_acknowledged' && input.upTo >= world.state.nextReport) continue;
    world.feed(input);
    afterEach();
  }
}

test('[S7] every input given twice gives no new event, and the books agree after each', () => {
  fc.assert(
    fc.property(lives(0), (life) => {
      const world = new World();
      live(world, life);
      world.assertReplays();
    }),
    { numRuns: 1000 },
  );
});

test('[S7] two looks of the simulator at an agent are the same exactly if its bytes are', () => {
  fc.assert(
    fc.property(lives(40), (life) => {
      const world = new World();
      const seen = () => ({ look: lookAt(world.state), bytes: encode(sumOf(world.state)) });
      let before = seen();
      live(world, life, () => {
        const after = seen();
        const areBytesSame = Buffer.compare(before.bytes, after.bytes) === 0;
        assert.equal(isSame(before.look, after.look), areBytesSame);
        before = after;
      });
    }),
    { numRuns: 50 },
  );
});
