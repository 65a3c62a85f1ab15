// The types of pools: which functions a program may call on them with what, and what the compiler
// must refuse. The checks are the compiler's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster, type Pool, type PoolOptions, type Shared } from '../../../../../src/library.ts';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Compiles only when the two are one type. */
function same<A, B>(_: Equal<A, B>): void {}

declare function over(x: number): number;
declare function over(x: string): string[];
declare function identity<T>(x: T): T;
declare function open(at: number, by?: string): Date;

/** Never called: functions on pools, their arguments and results. */
export async function compilesOnPools(pool: Pool, grid: Shared<Map<string, number>>) {
  same<Awaited<ReturnType<typeof one>>, number>(true);
  const one = () => pool.run((x) => x + 1, 3);
  const two = await pool.run((x, y) => x.toUpperCase() + y.a.toFixed(), 'a', { a: 1 });
  same<typeof two, string>(true);
  const number = await pool.run(over, 1);
  same<typeof number, number>(true);
  const texts = await pool.submit(over, 'x');
  same<typeof texts, string[]>(true);
  const generic: number = await pool.run(identity, 5);
  const some = await pool.run(open, generic);
  same<typeof some, Date>(true);
  const size = await pool.run(async (m: Map<string, number>) => m.size, grid);
  same<typeof size, number>(true);
  for await (const text of pool.map((x) => String(x), [1, 2])) same<typeof text, string>(true);
  for await (const value of pool.map<number, Date>({ module: 'x.ts' }, [1]))
    same<typeof value, Date>(true);
  // @ts-expect-error -- a text is no number
  await pool.run((x: number) => x, 'a');
  // @ts-expect-error -- an argument is missing
  await pool.run((x: number) => x);
  // @ts-expect-error -- nothing takes a second one
  await pool.run((x: number) => x, 1, 2);
  // @ts-expect-error -- there is no such way to call it
  await pool.run(over, true);
}

test('every cluster gives pools', () => {
  same<Cluster['pool'], (options: PoolOptions) => Promise<Pool>>(true);
  assert.equal(typeof new Cluster({}, 'anna').pool, 'function');
});
