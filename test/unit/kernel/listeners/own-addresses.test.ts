// The addresses that join tokens carry beside names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesBehind } from '../../../../src/kernel/listeners/own-addresses.ts';

const INTERFACES = {
  lo: [
    { address: '127.0.0.1', internal: true },
    { address: '::1', internal: true },
  ],
  eth0: [
    { address: 'fe80::1', internal: false },
    { address: '2001:db8::7', internal: false },
    { address: '10.0.0.7', internal: false },
  ],
  eth1: [
    { address: '10.0.0.7', internal: false },
    { address: '192.168.1.7', internal: false },
  ],
};

test('a listener on every address is reached by each that others can dial', () => {
  assert.deepEqual(addressesBehind('0.0.0.0', INTERFACES), ['10.0.0.7', '192.168.1.7']);
  const all = ['10.0.0.7', '192.168.1.7', '2001:db8::7'];
  assert.deepEqual(addressesBehind('::', INTERFACES), all);
});

test('a listener on one address is reached by that, and one for this machine by none', () => {
  assert.deepEqual(addressesBehind('192.168.1.7', INTERFACES), ['192.168.1.7']);
  for (const listen of ['127.0.0.1', '::1', 'localhost', '192.168.1.8']) {
    assert.deepEqual(addressesBehind(listen, INTERFACES), []);
  }
});
