// What `--torchrun` takes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { torchrunOf } from '../../../../../src/kernel/cli/commands/run.ts';
import { formatProgram } from '../../../../../src/kernel/head/program-line.ts';

test('[V19] --torchrun takes a script, and starts python by itself', () => {
  assert.equal(torchrunOf(['torch/train.py', '--lr', '1']).name, 'train.py');
  assert.equal(torchrunOf(['--standalone', 'pythonic.py']).name, 'pythonic.py');
  for (const python of ['python', 'python3', '/usr/bin/python3.12']) {
    assert.throws(() => torchrunOf([python, 'train.py']), /--torchrun starts .* by itself/);
  }
});

test('[V19] a command is shown as torchrun with the words that were typed', () => {
  const { program } = torchrunOf(['train.py', '--name', 'a b']);
  assert.equal(formatProgram(program), "torchrun train.py --name 'a b'");
  const own = { kind: 'argv', argv: ['/bin/sh', '-c', 'rm x', 'torchrun', 'train.py'] } as const;
  assert.equal(formatProgram(own), "/bin/sh -c 'rm x' torchrun train.py");
});
