// Files that say which process a daemon is.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { reportFailure } from '../../../../src/kernel/cli/report.ts';
import { writeMark } from '../../../../src/kernel/connect/process-file.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-mark-'));
after(() => rmSync(top, { recursive: true }));

test('a daemon that cannot write its file on a full disk names the file', () => {
  const file = join(top, 'n1.pid');
  // The system says of a disk that is full not what was written.
  symlinkSync('/dev/full', `${file}.new`);
  let said = '';
  const terminal = { error: (text: string) => (said += text) } as never;
  try {
    writeMark(file, process.pid);
    assert.fail('it was written');
  } catch (error) {
    reportFailure(error, { program: 'weft', terminal });
  }
  assert.equal(said, `weft: ${file}.new: the disk is full\n`);
});
