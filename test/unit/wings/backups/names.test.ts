// Names of backups, which of them go, when the next is due, and what of a head's folder they have.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeOf } from '../../../../src/wings/backups/cli/restore-verb.ts';
import { instantOf, nameOf } from '../../../../src/wings/backups/core/backup-name.ts';
import { dueAt, surplus } from '../../../../src/wings/backups/core/retention.ts';
import { isSelected } from '../../../../src/wings/backups/core/selection.ts';

const AT = Date.UTC(2026, 10, 27, 15, 40, 7);

test('a name says the instant, and gives it back', () => {
  assert.equal(nameOf(AT + 123), 'weft-20261127T154007.123Z');
  assert.equal(instantOf('weft-20261127T154007.000Z'), AT);
});

test('names of something else have no instant', () => {
  for (const name of [
    'weft',
    'weft-20261327T154007.000Z',
    '.half-1-weft-20261127T154007.000Z',
    'notes',
  ]) {
    assert.equal(instantOf(name), null, name);
  }
});

test('[U5] the oldest backups beyond the number that stays go, and nothing else', () => {
  const names = [
    'weft-20261127T000000.000Z',
    'notes',
    'weft-20261125T000000.000Z',
    'weft-20261126T000000.000Z',
  ];
  assert.deepEqual(surplus(names, 2), ['weft-20261125T000000.000Z']);
  assert.deepEqual(surplus(names, 3), []);
});

test('a backup is due so long after the last, and at once where there is none', () => {
  const due = (last: number | null, passedMs: number | null) =>
    dueAt({ everyMs: 1000, last, passedMs }, 5100);
  assert.equal(due(5000, null), 6000);
  assert.equal(due(null, null), 5100);
  assert.equal(dueAt({ everyMs: null, last: null, passedMs: null }, 5100), null);
});

test('a clock that was set back neither stops backups nor makes one after the other', () => {
  const due = (passedMs: number | null) => dueAt({ everyMs: 1000, last: 9000, passedMs }, 5100);
  assert.equal(due(null), 5100);
  assert.equal(due(100), 6000);
  assert.equal(due(5000), 5100);
});

test('[U1] a backup has keys, output and results, and nothing that is of the process', () => {
  const kept = ['stamp.key', 'tls/key.pem', 'logs/0/1/-.1.0.0.out', 'blobs/sha256/ab', 'audit.log'];
  const left = ['weft.db', 'weft.db-wal', 'weft.mark', 'weft.pid', 'weft.lock', 'weft.reserve'];
  const again = [
    'options.json',
    'archive/trash/x',
    'blobs/incoming/1',
    'blobs/total',
    'steps/steps.db',
    'steps/steps.db-wal',
    'samples/samples.db',
    'logs/total',
  ];
  for (const path of kept) assert.equal(isSelected(path), true, path);
  for (const path of [...left, ...again]) assert.equal(isSelected(path), false, path);
});

test('a configuration goes where the restored head reads it', () => {
  assert.equal(placeOf('/old/state/weft.yaml', '/new/state'), '/new/state/weft.yaml');
  for (const file of ['/etc/weft/weft.yaml', '/root/.config/weft/weft.yaml', '/lab/our.yaml']) {
    assert.equal(placeOf(file, '/new/state'), file);
  }
});
