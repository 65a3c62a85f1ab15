// A content that two send at the same time: neither hurries the other, and who waits sees that it
// moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure } from '../../../../src/kernel/model/failure.ts';
import type { HeadAccess } from '../../../../src/kernel/transfer/head-access.ts';
import { localBytes } from '../../../../src/kernel/transfer/local-file.ts';
import { uploadFiles } from '../../../../src/kernel/transfer/upload.ts';

const FILE = localBytes('big', new Uint8Array(1_048_576));

/** A head to which somebody else sends it; `offsetAt` says how far after so many pauses. */
function carrierBeside(offsetAt: (pauses: number) => number | null) {
  const pauses: number[] = [];
  const call = (route: string): Promise<unknown> => {
    const offset = offsetAt(pauses.length);
    const lacking = offset === null ? [] : [{ hash: FILE.hash, offset }];
    if (route === 'lackingBlobs') return Promise.resolve({ lacking });
    const message = 'another connection sends it';
    return Promise.reject(
      new Failure({ code: 'blob.taken_over', kind: 'failed_precondition', message }),
    );
  };
  const access = {
    head: () => Promise.resolve({ address: 'head', call }),
    patiently: (_: string, attempt: () => Promise<unknown>) => attempt(),
    pause: (ms: number) => Promise.resolve(void pauses.push(ms)),
  } as unknown as HeadAccess;
  return { access, pauses };
}

test('while another sends it, it is waited for as long as it moves, ever more slowly', async () => {
  const { access, pauses } = carrierBeside((count) => (count < 15 ? count : null));
  await uploadFiles(access, [FILE]);
  assert.equal(pauses.length, 15);
  assert.deepEqual(pauses.slice(0, 8), [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
});

test('what does not move any more is given up', async () => {
  const { access, pauses } = carrierBeside(() => 7);
  await assert.rejects(uploadFiles(access, [FILE]), /sent by another command at the same time/);
  assert.ok(pauses.length >= 10);
});
