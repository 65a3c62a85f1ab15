// When a bundle loads what it needs, and what its names are.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import vm from 'node:vm';
import { type BundleOptions, bundle } from '../../../tools/bundler.ts';

const MAIN = `import { join } from 'node:path';
export const late = () => import('./late.ts');
export const elsewhere = () => import('node:dns');
export const joined: string = join('a', 'b');
export function own(this: unknown): unknown { return this; }
`;
const LATE = `import { hostname } from 'node:os';
import files, { existsSync } from 'node:fs';
export class Late { readonly name: string = hostname(); }
export const isOne: boolean = files.existsSync === existsSync;
`;

type Ended = Awaited<ReturnType<typeof bundle>>;

async function bundled(t: TestContext, options: Partial<BundleOptions>): Promise<Ended> {
  const folder = mkdtempSync(path.join(tmpdir(), 'weft-bundler-'));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(path.join(folder, 'main.ts'), MAIN);
  writeFileSync(path.join(folder, 'late.ts'), LATE);
  const input = path.join(folder, 'main.ts');
  const usual = { format: 'cjs', target: ['node24'], inside: [], keeps: 'names' } as const;
  return bundle({ input, ...usual, ...options });
}

for (const keeps of ['names', 'all'] as const) {
  test(`a part that is asked for late loads late what it imports (${keeps})`, async (t) => {
    const { code, inputs } = await bundled(t, { keeps, isKept: true });
    assert.deepEqual(inputs.map((file) => path.basename(file)).sort(), ['late.ts', 'main.ts']);
    const asked: string[] = [];
    const exports = {} as {
      late: () => Promise<{ Late: new () => object; isOne: boolean }>;
      elsewhere: () => Promise<{ lookup: unknown }>;
      joined: string;
      own: () => unknown;
    };
    const others = createRequire(import.meta.url);
    const own = (name: string): unknown => {
      asked.push(name);
      return others(name);
    };
    const script = new vm.Script(`(function (exports, require) {${code}\n})`);
    script.runInThisContext().call(undefined, exports, own);
    assert.deepEqual([asked, exports.joined], [['node:path'], path.join('a', 'b')]);
    const { Late, isOne } = await exports.late();
    assert.deepEqual(asked.toSorted(), ['node:fs', 'node:os', 'node:path']);
    assert.deepEqual([Late.name, new Late().constructor.name, isOne], ['Late', 'Late', true]);
    // A script that is kept compiled cannot run `import()`.
    assert.equal(typeof (await exports.elsewhere()).lookup, 'function');
    const { own: free } = exports;
    assert.equal(free(), undefined, 'as strict as a module');
  });
}

test('a module keeps its imports, and its lines where a bug is to be read', async (t) => {
  const { code } = await bundled(t, { format: 'esm', keeps: 'lines' });
  assert.match(code, /^import .* from "node:os";$/m);
  assert.match(code, /import\("node:dns"\)/);
  assert.ok(code.split('\n').length > 10);
});

for (const keeps of ['names', 'lines', 'all'] as const) {
  test(`a licence stays at the end of a bundle (${keeps})`, async (t) => {
    const { code } = await bundled(t, { keeps, footer: '/* thing:\nMay be copied.\n*/' });
    assert.match(code, /\n\/\* thing:\nMay be copied\.\n\*\/\n?$/);
  });
}

test('what a bundler would only warn of ends the build', async (t) => {
  await assert.rejects(bundled(t, { format: 'iife', inside: 'all' }), /output\.name|resolve/i);
});
