// Leaves the records of a head's state directory as a folder of old records; see README.md.
//   node test/records/record.ts STATE_DIRECTORY FOLDER

import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportState } from '../../src/core/controller/snapshot.ts';
import { rebuild } from '../../src/head/journal.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { writeFolder } from './files.ts';

const [source, folder] = process.argv.slice(2);
if (source === undefined || folder === undefined || !existsSync(join(source, 'weft.db'))) {
  console.error('usage: record.ts STATE_DIRECTORY FOLDER; the first must hold weft.db');
  process.exit(2);
}

const copy = mkdtempSync(join(tmpdir(), 'weft-record-'));
try {
  for (const name of ['weft.db', 'weft.db-wal']) {
    if (existsSync(join(source, name))) copyFileSync(join(source, name), join(copy, name));
  }
  const store = await openSqliteStore({ directory: copy });
  const recovered = await store.recover();
  const { state, seq } = rebuild(recovered);
  const { snapshotSeq } = recovered;
  writeFolder(folder, recovered, { snapshotSeq, seq, state: exportState(state) });
  await store.close();
  console.log(`${folder}: snapshot up to ${snapshotSeq}, entries up to ${seq}`);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
