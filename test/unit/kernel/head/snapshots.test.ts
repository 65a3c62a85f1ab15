// A snapshot's bytes: what jobs say alike is there once, and comes back with each.

import assert from 'node:assert/strict';
import { HEAD_MACHINE } from '../../../../sim/head-machine.ts';
import { rebuild } from '../../../../src/kernel/head/journal.ts';
import { Snapshots } from '../../../../src/kernel/head/snapshots.ts';
import { exportState } from '../../../../src/kernel/machine/snapshot.ts';
import type { State } from '../../../../src/kernel/machine/state.ts';
import type { Store } from '../../../../src/kernel/ports/store.ts';
import { encodeRecords } from '../../../../src/kernel/wire/codec.ts';
import { scenario } from '../../../support/controller.ts';

/** Snapshots of a head, and the bytes of those that are saved. */
function savedBy(journalBytes = 0): {
  readonly snapshots: Snapshots;
  readonly saved: readonly Uint8Array[];
} {
  const saved: Uint8Array[] = [];
  const saveSnapshot = (_: number, bytes: Uint8Array) => Promise.resolve(void saved.push(bytes));
  const store = { saveSnapshot } as Partial<Store> as Store;
  const refused = (fields: object) => assert.fail(JSON.stringify(fields));
  const log = { debug: refused, info: refused, warn: refused, error: refused };
  const clock = { soon: (work: () => void) => work() };
  return { snapshots: new Snapshots({ store, log, clock, journalBytes }), saved };
}

/** The bytes that the head saves of a state, beside its work and at its stop. */
async function savedOf(state: State): Promise<readonly Uint8Array[]> {
  const { snapshots, saved } = savedBy();
  snapshots.take(state);
  snapshots.save(7);
  await snapshots.saveLast(7, state);
  return saved;
}

function rebuilt(snapshot: Uint8Array): object {
  const { state } = rebuild(HEAD_MACHINE, { snapshot, snapshotSeq: 7, records: [] });
  return exportState(state);
}

scenario('[S9] jobs that say the same come back from a snapshot as they were', async (head) => {
  head.connect('n1');
  for (let count = 0; count < 40; count += 1) head.submit();
  head.submit({ name: 'another' });
  for (let count = 0; count < 40; count += 1) head.submit();
  const wanted = exportState(head.state);
  const whole = encodeRecords(wanted);
  const [beside, last, ...more] = await savedOf(head.state);
  assert.ok(beside !== undefined && last !== undefined && more.length === 0);
  for (const bytes of [beside, last]) {
    assert.ok(bytes.length < whole.length / 2, `${bytes.length} of ${whole.length} bytes`);
    assert.deepEqual(rebuilt(bytes), wanted);
  }
  // As a release before this one has written it.
  assert.deepEqual(rebuilt(whole), wanted);
});

scenario('a quiet head saves a snapshot where a restart would read much', (head) => {
  head.connect('n1');
  const { snapshots, saved } = savedBy();
  const MIB = 1_048_576;
  const look = () => {
    const isDue = snapshots.isDueInQuiet();
    if (isDue) {
      snapshots.take(head.state);
      snapshots.save(7);
    }
    return isDue;
  };
  assert.deepEqual([look(), look()], [false, false], 'nothing was written');
  assert.equal(snapshots.isDue(MIB), false);
  assert.equal(look(), false, 'something was written since the last look');
  assert.equal(look(), true);
  assert.deepEqual([look(), look(), saved.length], [false, false, 1]);
});

scenario('what was read at the start counts in a quiet moment alone', (head) => {
  head.connect('n1');
  const { snapshots } = savedBy(64 * 1_048_576);
  assert.equal(snapshots.isDue(10), false);
  assert.deepEqual([snapshots.isDueInQuiet(), snapshots.isDueInQuiet()], [false, true]);
});
