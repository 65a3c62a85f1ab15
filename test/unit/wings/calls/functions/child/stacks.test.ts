// Stacks of errors from workers: the places of the program's files, as they were written.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild-wasm';
import { startChild, type TestChild } from '../support/child.ts';

type Thrower = () => unknown;
interface Program {
  /** Each throws an error, and has no variable in common with another. */
  readonly throwers: Readonly<Record<string, Thrower>>;
  /** Throws within a function that assigns what it uses as well. */
  readonly shared: Thrower;
}

/** Functions begin at columns and on lines of every kind. */
const SOURCE = `interface Order { readonly price: number }

const limit: number = 3;
function fail(what: string): never { throw new RangeError(what + limit); }
    function indented(): void { const orders: Order[] = []; if (limit > orders.length) throw new RangeError('in'); }
class Stock {
  static table = [
    'of several lines',
  ];
  count: number = 1;
  constructor(
    readonly name: string,
  ) {
    if (name === 'bad') throw new RangeError(name);
  }
  take(): never { throw new RangeError(this.name); }
}
class More extends Stock { all(): never { throw new RangeError('more'); } }
const things = {
  deep: { method(): never { throw new RangeError('method' + limit); } },
  async *[\`made\${limit}\`](): AsyncGenerator<never> { throw new RangeError('generator' + limit); },
};
const long = function
  named(): never {
    throw new RangeError('long' + limit);
  };
export const throwers = {
  arrow: (): void => { if (limit > 2) throw new RangeError('arrow'); },
  within: (): unknown => [1].map((one: number) => fail(String(one))),
  indented,
  maker: (): unknown => new Stock('bad'),
  member: (): unknown => new Stock('good').take(),
  inherited: (): unknown => new More('more').all(),
  method: (): unknown => things.deep.method(),
  generator: (): unknown => things.made3().next(),
  long,
};
let count: number = 0;
const bump = (): void => { count += 1; if (count > 0) throw new RangeError('bump'); };
export const shared = (): unknown => [bump(), count];
`;

const folder = mkdtempSync(join(tmpdir(), 'weft-stacks-'));
after(() => rmSync(folder, { recursive: true }));
afterEach(() => process.setSourceMapsEnabled(false));

async function programOf(name: string, text: string): Promise<Program> {
  const file = join(folder, name);
  writeFileSync(file, text);
  return (await import(pathToFileURL(file).href)) as Program;
}

async function withMap(name: string, options: { minify: boolean }): Promise<Program> {
  const made = {
    loader: 'ts',
    format: 'esm',
    sourcemap: 'inline',
    sourcefile: 'program.ts',
  } as const;
  const { code } = await transform(SOURCE, { ...made, ...options });
  return programOf(name, code);
}

/** The places in the program's file that a stack names, the innermost first. */
function placesOf(stack: string, file: string): string[] {
  const places = [...stack.matchAll(/\/([^/\s():]+):(\d+):(\d+)/g)];
  return places
    .filter(([, name]) => name === file)
    .map(([, , line, column]) => `${line}:${column}`);
}

async function thrownHere(fn: Thrower): Promise<Error> {
  try {
    await fn();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it throws nothing');
}

async function thrownThere(world: TestChild, fn: Thrower): Promise<Error> {
  return ((await world.call(fn)) as { error: Error }).error;
}

async function checkAll(world: TestChild, { throwers }: Program, file: string): Promise<void> {
  for (const [name, fn] of Object.entries(throwers)) {
    const [here, there] = [await thrownHere(fn), await thrownThere(world, fn)];
    const expected = placesOf(here.stack ?? '', file);
    assert.notEqual(expected.length, 0, name);
    assert.deepEqual(placesOf(there.stack ?? '', file), expected, `${name}: ${there.stack}`);
  }
}

test('[C14] a stack names each place as the program itself would', async () => {
  const name = 'plain.mjs';
  const { code } = await transform(SOURCE, { loader: 'ts', format: 'esm' });
  const program = await programOf(name, code);
  await using world = await startChild();
  await checkAll(world, program, name);
  const { stack = '' } = await thrownThere(world, program.shared);
  const lines = (all: string[]): string[] => all.map((place) => place.split(':')[0] ?? '');
  const expected = placesOf((await thrownHere(program.shared)).stack ?? '', name);
  assert.deepEqual(lines(placesOf(stack, name)), lines(expected), stack);
});

test('[C14] by source maps a stack names what the author wrote, of a long line as well', async () => {
  process.setSourceMapsEnabled(true);
  await using world = await startChild();
  for (const minify of [false, true])
    await checkAll(world, await withMap(`mapped-${minify}.mjs`, { minify }), 'program.ts');
});

test('[C14] of one long line, functions that share variables have their names alone', async () => {
  process.setSourceMapsEnabled(true);
  await using world = await startChild();
  const { shared } = await withMap('grouped.mjs', { minify: true });
  const { stack = '' } = await thrownThere(world, shared);
  assert.match(stack, /weft:/);
  assert.deepEqual(placesOf(stack, 'program.ts'), []);
});

test('[C14] without being told to heed source maps Node names its own text', async () => {
  await using world = await startChild();
  const { throwers } = await withMap('unheeded.mjs', { minify: false });
  const { stack = '' } = await thrownThere(world, throwers['arrow'] as Thrower);
  assert.equal(placesOf(stack, 'unheeded.mjs').length, 1);
});
