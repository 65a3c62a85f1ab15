// Why a node says that it can take no new work.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FaultWatch, type FaultWorld } from '../../../../src/kernel/agent/fault.ts';
import { NODE_DISK_FREE_BYTES_MIN } from '../../../../src/kernel/model/limits.ts';

/** What the watch says when so much of the disk is free. */
function saying(world: Partial<FaultWorld>) {
  let diskFreeBytes = 0;
  const faults = new FaultWatch({
    now: () => 0,
    load: () => ({ load1: 0, memoryFreeBytes: 0, diskFreeBytes }),
    isLauncherOutdated: () => false,
    isLauncherSilent: () => false,
    isSpoolFull: () => false,
    ill: () => null,
    hasRoom: () => true,
    onChange: () => undefined,
    ...world,
  });
  return (share: number): string | null => {
    diskFreeBytes = share * NODE_DISK_FREE_BYTES_MIN;
    return faults.look();
  };
}

test('[N16, G8] a node of a site says of the disk and output of its gateway whose they are', () => {
  const member = saying({ isElsewhere: true });
  assert.equal(member(0.5), 'its gateway: disk full');
  assert.equal(member(1.5), 'its gateway: disk full', 'until there is twice as much');
  assert.equal(member(3), null);
  assert.equal(
    saying({ isElsewhere: true, isSpoolFull: () => true })(3),
    'its gateway: spool full',
  );
  assert.equal(saying({ isElsewhere: true, ill: () => 'drained there' })(3), 'drained there');
  const own = saying({});
  assert.deepEqual([own(0.5), own(1.5), own(3)], ['disk full', 'disk full', null]);
});
