// Packages that functions use: workers import them, from where the program's module is.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { loadPackages } from '../../../../../../src/wings/calls/functions/travel/load-packages.ts';
import { NotSendable } from '../../../../../../src/wings/calls/functions/travel/not-sendable.ts';
import {
  capture,
  releaseFunction,
  share,
} from '../../../../../../src/wings/calls/functions/travel/values.ts';
import { type End, startChild } from '../support/child.ts';

const folder = mkdtempSync(join(tmpdir(), 'weft-packages-'));
after(() => rmSync(folder, { recursive: true }));

const FILES: Readonly<Record<string, string>> = {
  'node_modules/old/package.json': '{ "name": "old", "version": "1.0.0", "main": "main.js" }',
  'node_modules/old/main.js': `
    const secret = new WeakMap();
    exports.twice = (x) => x * 2;
    exports.make = () => { const own = new WeakMap(); return { run: () => own.has(own) }; };
    exports.loadedIn = () => process.pid;`,
  'node_modules/new/package.json':
    '{ "name": "new", "version": "1.0.0", "type": "module", "exports": "./main.js" }',
  'node_modules/new/main.js': `
    const pool = new WeakMap();
    let next = 0;
    export const id = () => { pool.set({}, 1); next += 1; return 'id' + next; };
    export const add = (a, b) => a + b;
    export class Point { #x; constructor(x) { this.#x = x; } get x() { return this.#x; } }`,
  'program.mjs': `
    import { createRequire } from 'node:module';
    import old from 'old';
    import { id, add as plus, Point } from 'new';
    import * as all from 'new';
    const { twice } = old;
    const required = createRequire(import.meta.url)('old');
    const made = old.make();
    const helper = (x) => twice(x) + all.add(x, 1);
    export const rows = {
      default: [() => old.twice(4), 8],
      property: [() => twice(4), 8],
      required: [() => required.twice(4), 8],
      renamed: [() => plus(1, 2), 3],
      state: [() => [id(), id()], ['id1', 'id2']],
      class: [() => new Point(3).x, 3],
      helper: [() => helper(2), 7],
      dynamic: [async () => (await import('new')).add(2, 2), 4],
      required2: [async () => (await import('old')).default.twice(2), 4],
      inWorker: [() => old.loadedIn() === process.pid, true],
    };
    export const callees = [[twice, [5], 10], [plus, [1, 2], 3]];
    export const refused = () => made.run();`,
};

function writeFiles(): void {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}
writeFiles();

type Callable = (...args: unknown[]) => unknown;
interface Program {
  readonly rows: Readonly<Record<string, readonly [Callable, unknown]>>;
  readonly callees: readonly (readonly [Callable, unknown[], unknown])[];
  readonly refused: Callable;
}

const got = (end: End): unknown =>
  typeof end === 'object' && 'value' in end ? end.value : assert.fail(JSON.stringify(end));

test('[C13] what a function has of a package is imported by the worker', async () => {
  const program = (await import(pathToFileURL(join(folder, 'program.mjs')).href)) as Program;
  await using world = await startChild();
  for (const [name, [fn, value]] of Object.entries(program.rows))
    assert.deepStrictEqual(got(await world.call(fn)), value, name);
  for (const [fn, args, value] of program.callees)
    assert.deepStrictEqual(got(await world.call(fn, ...args)), value);
  const [[twice]] = program.callees as unknown as [[Callable]];
  const apply = (f: Callable, x: number) => f(x);
  assert.equal(got(await world.call(apply, twice, 6)), 12, 'as an argument');
});

test('[C13] a shared value may have something of a package', async () => {
  const program = (await import(pathToFileURL(join(folder, 'program.mjs')).href)) as Program;
  const [[twice]] = program.callees as unknown as [[Callable]];
  const { shared, bytes } = share({ twice });
  const direct = capture(() => (shared.value.twice as (x: number) => number)(3));
  for (const act of ['captured', 'as an argument']) {
    await using world = await startChild();
    world.child.load(shared.sha256, bytes);
    const use = (one: { twice: Callable }, x: number) => one.twice(x);
    const call = act === 'captured' ? world.send(direct).end : world.call(use, shared, 3);
    assert.equal(got(await call), 6, act);
  }
});

test('[C13] what was made of the inside of a package is refused with the way out', async () => {
  const { refused } = (await import(pathToFileURL(join(folder, 'program.mjs')).href)) as Program;
  assert.throws(
    () => capture(refused),
    (error) => {
      assert.ok(error instanceof NotSendable);
      assert.match(error.message, /inside of the package old .*weak collections/);
      assert.match(error.message, /import it and make it in the function: .*await import\('old'\)/);
      return true;
    },
  );
});

test('[C13] a worker that has no such package says which, and what to do', async () => {
  const program = (await import(pathToFileURL(join(folder, 'program.mjs')).href)) as Program;
  await using world = await startChild();
  const code = capture(program.rows['state']?.[0]);
  rmSync(join(folder, 'node_modules'), { recursive: true });
  const end = await world.send(code).end;
  const { error } = end as { error: Error };
  assert.match(error.message, /Cannot find package 'new'.*give the workers a directory/s);
  writeFiles();
  assert.deepStrictEqual(got(await world.send(code).end), ['id1', 'id2'], 'once it is there');
});

test('[C13] what came with something of a package is sent on with it', async () => {
  writeFiles();
  const own = join(folder, 'own');
  mkdirSync(own, { recursive: true });
  writeFileSync(
    join(own, 'package.json'),
    '{ "name": "linked", "type": "module", "exports": "./main.js" }',
  );
  writeFileSync(
    join(own, 'main.js'),
    'const own = new WeakMap(); export const has = () => own.has(own);',
  );
  symlinkSync(own, join(folder, 'node_modules/linked'));
  const file = join(folder, 'nested.mjs');
  writeFileSync(file, "import { has } from 'linked'; export const fn = () => has();");
  const { fn } = (await import(pathToFileURL(file).href)) as { fn: Callable };
  const first = capture(fn).code;
  await loadPackages(first);
  const second = capture(releaseFunction(first)).code;
  await loadPackages(second);
  assert.equal(releaseFunction(second)(), false);
});
