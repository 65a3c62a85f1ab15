// What `weft doctor` says of the limit of open files.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openFiles } from '../../../../src/kernel/cli/doctor/open-files.ts';

const line = (soft: string) =>
  `Max open files            ${soft}                 ${soft}     files\n`;

test('a limit of open files that is too low is told with the way out', () => {
  const [low] = openFiles(line('256'));
  assert.equal(low?.state, 'note');
  assert.match(low?.text ?? '', /^a process may have 256 files open: /);
  assert.match(low?.remedy ?? '', /LimitNOFILE/);
  for (const enough of ['1024', '20000', 'unlimited']) {
    assert.deepEqual(openFiles(line(enough)), [
      { state: 'ok', text: `a process may have ${enough} files open` },
    ]);
  }
});

test('that of this machine is read', () => {
  assert.match(openFiles()[0]?.text ?? '', /^a process may have (\d+|unlimited) files open/);
});
