// Files that say which process a daemon is.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { reportFailure } from '../../../../src/kernel/cli/report.ts';
import { readLiveMark, writeMark } from '../../../../src/kernel/connect/process-file.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-mark-'));
after(() => rmSync(top, { recursive: true }));

test('a daemon that cannot write its file on a full disk names the file', () => {
  const file = join(top, 'n1.pid');
  // The system says of a disk that is full not what was written.
  symlinkSync('/dev/full', `${file}.new`);
  symlinkSync('/dev/full', file);
  let said = '';
  const terminal = { error: (text: string) => (said += text) } as never;
  try {
    writeMark(file, process.pid);
    assert.fail('it was written');
  } catch (error) {
    reportFailure(error, { program: 'weft', terminal });
  }
  assert.equal(said, `weft: ${file}: the disk is full\n`);
});

test('one that has run there can be started again: its file has room for the new one', () => {
  const file = join(top, 'n2.pid');
  writeFileSync(file, '{}');
  symlinkSync('/dev/full', `${file}.new`);
  writeMark(file, process.pid);
  assert.equal(readLiveMark(file)?.pid, process.pid);
  assert.ok(!existsSync(`${file}.new`));
});
