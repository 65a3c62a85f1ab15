// Errors of cards in the kernel's log: which of them take a card out, and until when.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_XIDS, xidsAfter } from '../../../../../src/wings/gpus/core/nvidia/xid.ts';

const said = (...lines: string[]) => [...xidsAfter(NO_XIDS, lines)];

test('[V3] an XID that needs a reset takes its card out, by the address', () => {
  assert.deepEqual(
    said('NVRM: Xid (PCI:0000:0A:00): 79, pid=4711, name=python, GPU has fallen off the bus.'),
    [['0000:0a:00.0', 'XID 79: GPU has fallen off the bus.']],
  );
  assert.deepEqual(said('NVRM: Xid (PCI:0000:0a:00.0): 48'), [['0000:0a:00.0', 'XID 48']]);
  const action = 'GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)';
  assert.deepEqual(said(`NVRM: Xid (PCI:0000:0a:00): 154, ${action}`), [
    ['0000:0a:00.0', 'XID 154: GPU Reset Required'],
  ]);
});

test('[V3] an error of a program takes no card out', () => {
  assert.deepEqual(
    said(
      ...[13, 31, 43, 45, 63, 92, 94].map((code) => `NVRM: Xid (PCI:0000:0a:00): ${code}, pid=1`),
      'NVRM: Xid (PCI:0000:0a:00): 154, GPU recovery action changed to 0x0 (None)',
      'usb 1-1: new high-speed USB device',
    ),
    [],
  );
});

test('[V3] a driver that is loaded anew has set its cards up anew', () => {
  const before = xidsAfter(NO_XIDS, ['NVRM: Xid (PCI:0000:0a:00): 79, lost']);
  assert.equal(xidsAfter(before, ['nothing']).size, 1);
  const loaded = 'NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05';
  assert.equal(xidsAfter(before, [loaded]).size, 0);
});
