// Exit codes of a head: which of them a supervisor starts again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { headFailure } from '../../../src/bin/head-failure.ts';
import { YOUNG_MIB_OF_HEAD } from '../../../src/kernel/cli/daemons/spawn.ts';
import { usage } from '../../../src/kernel/model/failure.ts';
import { StoreFailure } from '../../../src/kernel/ports/store.ts';
import { headUnit } from '../../../src/wings/lab/core/setup/user-units.ts';

const unit = readFileSync(
  path.resolve(import.meta.dirname, '../../../deploy/systemd/weft-head.service'),
  'utf8',
);
const final = new Set(/^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]?.split(' ').map(Number));

function errno(code: string, more = {}): Error {
  return Object.assign(new Error(`${code}: no`), { code, syscall: 'listen', ...more });
}

test('what another try cannot mend is not started again, everything else is', () => {
  const reasons = ['corrupt', 'foreign', 'newer', 'read_only'] as const;
  const lasting = [
    ...reasons.map((reason) => new StoreFailure(reason, 'words')),
    errno('EACCES', { address: '0.0.0.0', port: 443 }),
    errno('EROFS'),
    new TypeError('x is not a function'),
    usage('head.listen: no address'),
  ];
  for (const error of lasting) {
    assert.ok(final.has(headFailure(error, 'start').exitCode), error.message);
  }
  const passing = [
    ...(['full', 'locked', 'io'] as const).map((reason) => new StoreFailure(reason, 'words')),
    errno('EADDRINUSE', { address: '::', port: 5001 }),
    errno('ENOSPC'),
    errno('EIO'),
  ];
  for (const error of passing) {
    const { exitCode } = headFailure(error, 'start');
    assert.ok(exitCode !== 0 && !final.has(exitCode), error.message);
  }
});

test('the words say what happened and what to do, and never claim a bug where there is none', () => {
  const busy = headFailure(errno('EADDRINUSE', { address: '127.0.0.1', port: 5001 }), 'start');
  assert.equal(busy.code, 'head.failed');
  assert.match(
    busy.message,
    /^The head cannot start: another program uses the port 127.0.0.1:5001/,
  );
  const privileged = headFailure(errno('EACCES', { address: '::', port: 443 }), 'start');
  assert.match(privileged.message, /may not open the port :::443/);
  const gone = headFailure(new StoreFailure('io', 'the thread of the store ended'), 'run');
  assert.equal(gone.message, 'The head had to stop: the thread of the store ended');
  assert.match(headFailure(new TypeError('x'), 'start').message, /a bug in this program/);
});

test('a head has the same room for young objects, whoever starts it', () => {
  const ofUser = headUnit({ weft: '/opt/weft/bin/weft', state: '/s' });
  for (const one of [unit, ofUser]) {
    assert.ok(one.includes(`--max-semi-space-size=${YOUNG_MIB_OF_HEAD} `), one);
  }
});
