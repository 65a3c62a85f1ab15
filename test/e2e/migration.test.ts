// The examples of docs/migration/cm.md, typed as they stand there, say what they say there. `…`
// stands for whatever differs from place to place.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { LocalCluster, repository, runProgram } from './support/local-cluster.ts';

const PAGE = readFileSync(join(repository, 'docs', 'migration', 'cm.md'), 'utf8');
const PROGRAMS = ['weft', 'cminfo', 'cmrun', 'cmkill', 'cmconfigure', 'cmdaemon'];

interface Step {
  readonly line: string;
  readonly says: string;
}

describe('the page for those who come from cm', () => {
  const cluster = new LocalCluster();
  after(() => cluster.close());

  it('does what it shows', async () => {
    const env = { ...cluster.env, PATH: `${makePath(cluster)}:${process.env['PATH']}` };
    const steps = stepsOf(PAGE);
    assert.ok(steps.length > 15, 'the examples were found');
    for (const { line, says } of steps) {
      const { out, error } = await runProgram(['sh', '-c', line], { cwd: cluster.work, env });
      assert.match(`${error}${out}`, patternOf(says), line);
    }
  });
});

/** A folder with the programs as an installation has them on PATH. */
function makePath({ directory }: LocalCluster): string {
  const folder = join(directory, 'bin');
  mkdirSync(folder);
  for (const name of PROGRAMS) {
    symlinkSync(join(repository, 'bin', `${name}.mjs`), join(folder, name));
  }
  return folder;
}

function stepsOf(page: string): Step[] {
  const blocks = [...page.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block = '']) => block);
  return blocks.flatMap((block) =>
    block.split(/^\$ /m).flatMap((step) => {
      const [line = '', ...says] = step.split('\n');
      return line === '' ? [] : [{ line, says: says.join('\n') }];
    }),
  );
}

/** Blanks are as many as columns need. */
function patternOf(says: string): RegExp {
  const parts = says.trim().split('…');
  const quoted = parts.map((part) => RegExp.escape(part).replace(/(?: |\\x20)+/g, ' +'));
  return new RegExp(`^\\s*${quoted.join('[^]*?')}\\s*$`);
}
