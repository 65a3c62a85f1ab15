// The options of the Python package are those of the library: the same names, fields and workers.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { FIELD_ROWS } from '../../../src/kernel/model/options/table.ts';
import { parseDependency } from '../../../src/kernel/model/submission-values.ts';
import { ROOT } from '../../../tools/tree.ts';

const skip = spawnSync('python3', ['--version']).status === 0 ? false : 'no python3 here';

const TELL = `import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, ${JSON.stringify(path.join(ROOT, 'python', 'src'))})
from weft import _options
fields = {name: field for name, (field, _) in _options._FIELDS.items()}
print(json.dumps([fields, sorted(set(fields) & _options.WORKER_OPTIONS)]))`;

test('each option has the name and the field that it has elsewhere', { skip }, () => {
  const { stdout, stderr } = spawnSync('python3', ['-I', '-c', TELL], { encoding: 'utf8' });
  assert.equal(stderr, '');
  const [fields, ofWorkers] = JSON.parse(stdout) as [Record<string, string>, string[]];
  const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const rows = FIELD_ROWS.map(({ name, field }) => [snake(name), field]);
  assert.deepEqual(fields, Object.fromEntries(rows), 'python/src/weft/_options.py lacks a row');
  const pool = FIELD_ROWS.filter((row) => row.pool).map(({ name }) => snake(name));
  assert.deepEqual(ofWorkers, pool.toSorted());
});

test('what a job waits for is said as elsewhere', { skip }, () => {
  const said = ['42', '42:ok', '42:any', '42:fail', '42:each', '42:start', '42:start+10m'];
  const program = `import json, sys
sys.path.insert(0, ${JSON.stringify(path.join(ROOT, 'python', 'src'))})
from weft import _options
print(json.dumps(_options._FIELDS['after'][1]('after', ${JSON.stringify(said)})))`;
  const { stdout, stderr } = spawnSync('python3', ['-I', '-B', '-c', program], {
    encoding: 'utf8',
  });
  assert.equal(stderr, '');
  const wanted = said.map((text) => {
    const read = parseDependency(text);
    assert.ok(read.ok);
    return read.value;
  });
  assert.deepEqual(JSON.parse(stdout), wanted);
});
