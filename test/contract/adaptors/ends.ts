// What is expected of the ends of jobs: evidence, or nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AdaptorCase, type EndName, type EndOutput, isMissing, skipFor } from './case.ts';
import { jobIn } from './jobs-in.ts';

const EXITS: Partial<Record<EndName, object>> = {
  success: { code: 0 },
  'code 3': { code: 3 },
  'signal 9': { signal: 9 },
};

export function ends(of: AdaptorCase): void {
  const { system, adaptor, noRecord, unknownJob } = of;
  const exitOf = ({ output, id, told }: EndOutput): object | null => {
    if (told === 'listing') {
      const job = jobIn(of, { output, id });
      assert.equal(job.state, 'ended');
      return job.exit;
    }
    const end = adaptor.end?.(id).read(output) ?? assert.fail('no accounting');
    assert.ok(end.ok, end.ok ? '' : end.error.text);
    assert.ok(end.value === null || end.value.endedAt > 0);
    return end.value?.exit ?? null;
  };
  for (const [name, where] of Object.entries(of.ends)) {
    test(`${system}: an end is told as it was: ${name}`, skipFor(where), () => {
      assert.ok(!isMissing(where));
      const exit = exitOf(where);
      const expected = EXITS[name as EndName];
      if (expected !== undefined) assert.deepEqual(exit, expected);
      // Whoever was ended has not succeeded.
      else assert.notDeepEqual(exit, { code: 0 });
    });
  }

  test(`${system}: of a job that nobody knows there is no end`, () => {
    if (noRecord !== undefined) {
      assert.deepEqual(adaptor.end?.('9999').read(noRecord), { ok: true, value: null });
    }
    if (unknownJob.known !== undefined) {
      assert.deepEqual(adaptor.known?.('9999').read(unknownJob.known), { ok: true, value: false });
    }
    assert.equal(adaptor.known === null, unknownJob.known === undefined);
    const cancelled = adaptor.cancel('9999').read(unknownJob.cancel);
    assert.ok(cancelled.ok || cancelled.error.kind === 'no_such_job');
  });
}
