// What a program of the operator says of further devices.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDevices } from '../../../../../src/wings/gpus/core/devices.ts';

const GIB = 2 ** 30;

test('[V7] gpus are cards, other kinds are counted, and what has a problem is not given', () => {
  const seen = readDevices(
    JSON.stringify([
      { kind: 'gpu', id: 'TT-1', name: 'Wormhole n150', memory: 12 * GIB, problem: 'too hot' },
      { kind: 'fpga', id: 'slot-3' },
      { kind: 'fpga', id: 'slot-4' },
      { kind: 'dongle', id: 'a', problem: 'not plugged in' },
    ]),
  );
  assert.deepEqual(
    seen?.cards.map(({ uuid, type, memoryBytes, ills }) => [uuid, type, memoryBytes, ills]),
    [['TT-1', 'wormholen150', 12 * GIB, ['too hot']]],
  );
  assert.deepEqual(seen?.counted, { fpga: 2, dongle: 0 });
  assert.equal(seen?.remark, 'dongle a: not plugged in');
});

test('[V7] what stands there twice counts once, and what a node has anyway is no device', () => {
  const seen = readDevices(
    JSON.stringify([
      { kind: 'dongle', id: 'usb-1' },
      { kind: 'dongle', id: 'usb-1' },
      { kind: 'cpu', id: 'x' },
      { kind: 'gpu', id: 'TT-1' },
      { kind: 'gpu', id: 'TT-1' },
    ]),
  );
  assert.deepEqual([seen?.counted, seen?.cards.length], [{ dongle: 1 }, 1]);
  assert.equal(
    seen?.remark,
    'entry 2 is left out: dongle usb-1 stands there twice; ' +
      'entry 3 is left out: cpu is no kind of devices; entry 5 is left out: gpu TT-1 stands there twice',
  );
});

test('[V7] what is no device is left out and told, and what is no list says nothing', () => {
  const seen = readDevices('[{"kind": "two words", "id": "x"}, {"kind": "fpga"}, 7]');
  assert.deepEqual([seen?.cards, seen?.counted], [[], {}]);
  assert.match(
    seen?.remark ?? '',
    /^entry 1 is left out: it needs a kind, of one word, and an id; /,
  );
  for (const text of ['', '{}', '[{"kind":', 'fpga']) assert.equal(readDevices(text), null, text);
});
