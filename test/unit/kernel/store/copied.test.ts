// A store whose files were copied to where they are: it is told, once, and the original is not
// meant.

import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identityOf, isAnotherFile } from '../../../../src/kernel/store/sqlite/mark.ts';
import { openSqliteStore } from '../../../../src/kernel/store/sqlite/open.ts';
import { newDirectory } from './support/directory.ts';
import { commitOf } from './support/rows.ts';

/** Opens it, appends these records, and says whether it was a copy. */
async function use(directory: string, ...seqs: readonly number[]): Promise<boolean> {
  const store = await openSqliteStore({ directory });
  const { isElsewhere } = await store.recover();
  for (const seq of seqs) await store.append(commitOf(seq));
  await store.close();
  return isElsewhere;
}

test('[S16] a copied store is known by its files, until it has a record of its own', async (t) => {
  const original = newDirectory(t);
  assert.equal(await use(original, 1, 2), false, 'a new one');
  assert.equal(await use(original), false, 'the same again');
  const copy = join(newDirectory(t), 'copy');
  cpSync(original, copy, { recursive: true, preserveTimestamps: true });
  assert.equal(await use(copy), true);
  assert.equal(await use(copy, 3), true, 'nothing was written, so nobody knows of it yet');
  assert.equal(await use(copy), false);
  assert.equal(await use(original, 3), false, 'the original is none');
});

test('[S16] a folder that is moved on its disk, or put back as it is, is no copy', async (t) => {
  const directory = newDirectory(t);
  await use(directory, 1);
  const elsewhere = join(newDirectory(t), 'moved');
  renameSync(directory, elsewhere);
  assert.equal(await use(elsewhere), false);
  renameSync(elsewhere, directory);
  assert.equal(await use(directory), false);
});

test('[S16] of a copy that lacks what its mark promises the loss is told, as of any store', async (t) => {
  const directory = newDirectory(t);
  await use(directory, 1);
  const older = join(newDirectory(t), 'older');
  cpSync(directory, older, { recursive: true });
  await use(directory, 2, 3);
  // The mark is newer than the database.
  cpSync(join(directory, 'weft.mark'), join(older, 'weft.mark'));
  await assert.rejects(openSqliteStore({ directory: older }), /3 were accepted/);
});

test('[S16] a copy that is put back into the same files is one, too', async (t) => {
  const directory = newDirectory(t);
  await use(directory, 1);
  const backup = join(newDirectory(t), 'backup');
  cpSync(directory, backup, { recursive: true });
  await use(directory, 2);
  // As `cp -a backup/. directory/` has it: what is there is written over.
  for (const name of readdirSync(backup))
    writeFileSync(join(directory, name), readFileSync(join(backup, name)));
  for (const name of readdirSync(directory))
    if (!existsSync(join(backup, name))) rmSync(join(directory, name));
  assert.equal(await use(directory), true);
});

test('[S16] where the birth of a file is not known its number alone tells which it is', () => {
  const born = (ino: bigint, birthtimeNs: bigint, ctimeNs: bigint) =>
    identityOf({ ino, birthtimeNs, ctimeNs });
  const isOther = (one: string, other: string) => isAnotherFile(one, other);
  // No birth: Node gives the last change, which another write moves.
  assert.equal(isOther(born(7n, 50n, 50n), born(7n, 90n, 90n)), false);
  assert.equal(isOther(born(7n, 0n, 50n), born(7n, 0n, 90n)), false);
  // Made and changed within one tick of the clock, and read later.
  assert.equal(isOther(born(7n, 50n, 50n), born(7n, 50n, 90n)), false);
  assert.equal(isOther(born(7n, 50n, 60n), born(7n, 55n, 90n)), true, 'its number was used again');
  assert.equal(isOther(born(7n, 50n, 60n), born(8n, 50n, 90n)), true);
});
