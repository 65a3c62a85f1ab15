// What a job of a local run leaves outside of its save folder.

import { lstatSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SAVE_FOLDER } from '../../../../kernel/files/folders.ts';
import { type Before, OutsideCount } from '../../../../kernel/files/outside.ts';
import type { Outside } from '../../../../kernel/model/staging.ts';
import { walk } from '../../../../kernel/transfer/walk.ts';

/** `mark`: a file of this run, by whose time what is made later is known. */
export function lookBefore(work: string, mark: string): Before {
  const names = new Set(readdirSync(work));
  writeFileSync(mark, '');
  return { names, atNs: statSync(mark, { bigint: true }).mtimeNs };
}

/** Undefined: nothing. What nobody can read is no loss. */
export function lookAfter(work: string, before: Before): Outside | undefined {
  const count = new OutsideCount(before);
  const add = (name: string, full: string | Buffer) => {
    const status = lstatSync(full, { bigint: true, throwIfNoEntry: false });
    if (status === undefined) return;
    const { size, mtimeNs: modifiedNs, birthtimeNs: madeNs } = status;
    if (name.startsWith(`${SAVE_FOLDER}/`)) count.keep(name, Number(size), { modifiedNs });
    else count.add(name, Number(size), { modifiedNs, madeNs });
  };
  for (const entry of readdirSync(work, { withFileTypes: true })) {
    const { name } = entry;
    const top = path.join(work, name);
    if (!entry.isDirectory()) add(name, top);
    else {
      for (const { path: below, kind, full } of walk(top, () => undefined)) {
        if (kind === 'file' || kind === 'link') add(`${name}/${below}`, full);
      }
    }
  }
  return count.sum;
}
