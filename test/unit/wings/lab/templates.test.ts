// The configurations of `weft init --template`: each is read as it stands, and a head starts with
// it.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { runWeft } from '../../../../src/kernel/cli/main.ts';
import { loadConfig } from '../../../../src/kernel/config/config.ts';
import { parseConfig } from '../../../../src/kernel/config/read-file.ts';
import { schedulingFrom } from '../../../../src/kernel/config/scheduling.ts';
import { schemaOf } from '../../../../src/kernel/config/schema.ts';
import { parseTarget } from '../../../../src/kernel/model/notification.ts';
import { TEMPLATES } from '../../../../src/wings/lab/cli/templates/templates.ts';
import { WINGS } from '../../../../src/wings.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { HeadDirectory } from '../../../support/head-process.ts';
import { capture } from '../../kernel/cli/fake-head.ts';

const SCHEMA = await schemaOf(WINGS);
const CHOSEN = { name: '"ours"', listen: '127.0.0.1:5099', names: 'head.example' };

/** Each line that a comment proposes, as if somebody had taken its `#` away. */
function uncommented(text: string): string {
  return text.replace(/^( *)# (?=[a-z_]+: [^ ]+$|[a-z_]+: \{|[a-z_]+:$| {2}[a-z_]+: )/gm, '$1');
}

for (const template of TEMPLATES) {
  const { name } = template;
  const text = template.text(CHOSEN);

  test(`[Y1] the template ${name} is read without a problem, also with what it proposes`, () => {
    assert.deepEqual(parseConfig(text, 'weft.yaml', SCHEMA).problems, []);
    assert.deepEqual(parseConfig(uncommented(text), 'weft.yaml', SCHEMA).problems, []);
  });

  test(`[Y1] whom the template ${name} proposes to notify can be notified`, () => {
    const targets = [...text.matchAll(/--notify (\S+)/g)].map(([, target = '']) => target);
    if (name === 'lab') assert.equal(targets.length, 1);
    for (const target of targets) assert.ok(parseTarget(target).ok, target);
  });

  test(`[Y1] a head starts with the template ${name}, and has its partitions`, async (t) => {
    const head = new HeadDirectory(t);
    const listen = `127.0.0.1:${await findFreePort({ host: '127.0.0.1', port: 24_000 })}`;
    const argv = ['init', '--template', name, '--name', 'ours', '--listen', listen];
    const made = await capture(head.directory, { program: 'weft', argv }, runWeft);
    assert.equal(made.code, 0, made.error);
    const file = path.join(head.directory, 'weft.yaml');
    await head.serve([], {});
    const { partitions } = schedulingFrom(
      await loadConfig({ wings: WINGS, environment: {}, file, directory: head.directory }),
    );
    const weft = (...words: string[]) =>
      capture(head.directory, { program: 'weft', argv: words }, runWeft);
    const served = await weft('partition', 'list', '-o', 'name');
    assert.deepEqual(served.out.trim().split('\n').sort(), Object.keys(partitions).sort());
    assert.match((await weft('info')).out, /ours/);
  });
}

test('[Y1] templates are listed, and a wrong name is answered with those that there are', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-lab-test-'));
  const weft = (...argv: string[]) => capture(folder, { program: 'weft', argv }, runWeft);
  try {
    const listed = await weft('init', '--template', 'list');
    assert.deepEqual(
      listed.out
        .trim()
        .split('\n')
        .map((line) => line.split(' ')[0]),
      ['workstation', 'lab', 'classroom', 'slurm-front'],
    );
    const wrong = await weft('init', '--template', 'clasroom');
    assert.equal(wrong.code, 2);
    assert.match(wrong.error, /'clasroom' is none\. Did you mean 'classroom'\?/);
    assert.equal((await weft('init', '--template', 'workstation')).code, 0);
    assert.match(readFileSync(path.join(folder, 'weft.yaml'), 'utf8'), /listen: 127\.0\.0\.1:5001/);
    const taken = await weft('init', '--template', 'lab');
    assert.match(taken.error, /already exists/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
