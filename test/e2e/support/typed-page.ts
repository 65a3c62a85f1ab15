// Types the `console` blocks of a page, one after the other on one cluster, and compares what is
// said. `…` on the page stands for whatever differs from place to place.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type LocalCluster, repository, runProgram } from './local-cluster.ts';

/** `programs` are on the PATH, as an installation has them. */
export async function typePage(
  cluster: LocalCluster,
  page: string,
  programs: readonly string[],
): Promise<number> {
  const env = { ...cluster.env, PATH: `${makePath(cluster, programs)}:${process.env['PATH']}` };
  const steps = stepsOf(readFileSync(join(repository, page), 'utf8'));
  for (const { line, says } of steps) {
    const { out, error } = await runProgram(['sh', '-c', line], { cwd: cluster.work, env });
    assert.match(`${error}${out}`, patternOf(says), line);
  }
  return steps.length;
}

interface Step {
  readonly line: string;
  readonly says: string;
}

function makePath({ directory }: LocalCluster, programs: readonly string[]): string {
  const folder = join(directory, 'bin');
  mkdirSync(folder);
  for (const name of programs) {
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
