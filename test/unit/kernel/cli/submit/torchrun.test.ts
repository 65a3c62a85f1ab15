// What `--torchrun` takes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { torchrunOf } from '../../../../../src/kernel/cli/submit/torchrun.ts';

test('[V19] --torchrun takes a script, and starts python by itself', () => {
  assert.equal(torchrunOf(['torch/train.py', '--lr', '1']).name, 'train.py');
  assert.equal(torchrunOf(['--standalone', 'pythonic.py']).name, 'pythonic.py');
  for (const python of ['python', 'python3', '/usr/bin/python3.12']) {
    assert.throws(() => torchrunOf([python, 'train.py']), /--torchrun starts .* by itself/);
  }
});
