// Failures between programs of a package, which are files by themselves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Failure, usage } from '../../../../src/kernel/model/failure.ts';

test('a failure of another file of the package is one here, too', async () => {
  const file = new URL('../../../../src/kernel/model/failure.ts?another', import.meta.url).href;
  const other = (await import(file)) as { readonly usage: typeof usage };
  assert.notEqual(other.usage, usage, 'it was loaded twice');
  const found: unknown = other.usage('no such node');
  assert.ok(found instanceof Failure);
  assert.equal(found.exitCode, usage('no such node').exitCode);
  assert.equal(JSON.stringify(found), JSON.stringify(usage('no such node')));
  for (const one of [new Error('x'), null, undefined, 'x', {}]) {
    assert.ok(!((one as unknown) instanceof Failure));
  }
});
