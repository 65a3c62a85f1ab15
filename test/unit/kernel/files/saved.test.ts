// What a job of a batch has left, under the names of its save folder.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryFlaw } from '../../../../src/kernel/files/entry.ts';
import type { ManifestEntry } from '../../../../src/kernel/files/manifest.ts';
import { savedOf } from '../../../../src/kernel/files/saved.ts';

function link(path: string, target: string): ManifestEntry {
  return { path, kind: 'link', size: 0, mode: 0o777, modifiedAt: 0, target };
}

test('a link out of the save folder is left out, and all that is kept can be pulled', () => {
  const entries = [
    link('distribute_save/mesh', '../input/mesh.h5'),
    link('distribute_save/steps/first', '../../other_job/first'),
    link('distribute_save/steps/last', '../steps.txt'),
  ];
  const saved = savedOf({ entries, leftOut: [] });
  assert.deepEqual(saved, {
    entries: [link('steps/last', '../steps.txt')],
    leftOut: [
      { path: 'mesh', why: 'it is a link that leaves the save folder, to ../input/mesh.h5' },
      {
        path: 'steps/first',
        why: 'it is a link that leaves the save folder, to ../../other_job/first',
      },
    ],
  });
  assert.deepEqual(saved.entries.map(entryFlaw), [null]);
});
