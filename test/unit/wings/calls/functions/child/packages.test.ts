// Packages that functions use: workers import them, from where the program's module is.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadPackages } from '../../../../../../src/wings/calls/functions/serialization/load-packages.ts';
import { NotSendable } from '../../../../../../src/wings/calls/functions/serialization/not-sendable.ts';
import {
  capture,
  releaseFunction,
  share,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { type End, startChild } from '../support/child.ts';

const folder = mkdtempSync(join(tmpdir(), 'weft-packages-'));
after(() => rmSync(folder, { recursive: true }));

/** A real package beside the stand-ins: the one that Weft has itself. */
const ZOD = dirname(fileURLToPath(import.meta.resolve('zod/package.json')));

const FILES: Readonly<Record<string, string>> = {
  'node_modules/old/package.json': '{ "name": "old", "version": "1.0.0", "main": "main.js" }',
  'node_modules/old/main.js': `
    const secret = new WeakMap();
    exports.twice = (x) => x * 2;
    exports.make = () => { const own = new WeakMap(); return { run: () => own.has(own) }; };
    exports.loadedIn = () => process.pid;
    let digits = 20;
    exports.config = (count) => { digits = count; };
    exports.third = () => (1 / 3).toFixed(digits);
    function Base() {}
    function Wrapper(value) { this.value = value; }
    Wrapper.prototype = Object.create(Base.prototype);
    Wrapper.prototype.constructor = Wrapper;
    exports.wrap = (value) => new Wrapper(value);`,
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
    import { z } from 'zod';
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
    const wrapped = old.wrap([1, 2]);
    const point = { of: new Point(1) };
    const schema = z.object({ a: z.number() });
    old.config(2);
    export const thirds = [() => old.third(), () => { old.config(2); return old.third(); }];
    export const parsed = (x) => z.object({ a: z.number() }).parse(x);
    export const refused = [
      ['old', () => made.run(), 'weak collections'],
      ['old', () => wrapped.value, 'inherits from an object'],
      ['new', () => point.of.x, 'Point has private members'],
      ['zod', () => schema.parse({ a: 1 }), ''],
    ];`,
};

function writeFiles(): void {
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  rmSync(join(folder, 'node_modules/zod'), { force: true });
  symlinkSync(ZOD, join(folder, 'node_modules/zod'));
}
writeFiles();

type Callable = (...args: unknown[]) => unknown;
interface Program {
  readonly rows: Readonly<Record<string, readonly [Callable, unknown]>>;
  readonly callees: readonly (readonly [Callable, unknown[], unknown])[];
  readonly parsed: Callable;
  readonly thirds: readonly [Callable, Callable];
  /** A package, a function that has something of its inside, and why that does not go. */
  readonly refused: readonly (readonly [string, Callable, string])[];
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
  for (const [name, fn, why] of refused) {
    const remedy = `import it and make it in the function: .*await import\\('${name}'\\)`;
    const words = new RegExp(`inside of the package ${name} .*${why}.*${remedy}`);
    assert.throws(
      () => capture(fn),
      (error) => error instanceof NotSendable && words.test(error.message),
      `${name}: ${why}`,
    );
  }
});

test('[C13] a schema of zod is made in the function, of the zod that its module imports', async () => {
  const { parsed } = (await import(pathToFileURL(join(folder, 'program.mjs')).href)) as Program;
  await using world = await startChild();
  assert.deepStrictEqual(got(await world.call(parsed, { a: 1, b: 2 })), { a: 1 });
  assert.equal(((await world.call(parsed, { a: 'x' })) as { error: Error }).error.name, 'ZodError');
});

test('[C13] what the program has set in a package is set in the function, or as imported', async () => {
  const { thirds } = (await import(pathToFileURL(join(folder, 'program.mjs')).href)) as Program;
  const [plain, sets] = thirds;
  assert.equal(plain(), '0.33');
  await using world = await startChild();
  assert.equal(got(await world.call(plain)), (1 / 3).toFixed(20));
  assert.equal(got(await world.call(sets)), '0.33');
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
