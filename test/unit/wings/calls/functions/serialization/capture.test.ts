// Functions through captures: closures, classes and built-ins arrive; what cannot is named.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { Script } from 'node:vm';
import { NotSendable } from '../../../../../../src/wings/calls/functions/serialization/not-sendable.ts';
import {
  capture,
  captureForCalls,
  packResult,
  releaseFunction,
  releaseWhole,
  share,
  unpackResult,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { scaled } from './support/imported.ts';

// biome-ignore lint/suspicious/noExplicitAny: functions of any shape are sent here.
type Any = any;

function sent<T extends Any>(fn: T): T {
  const whole = releaseFunction(capture(fn).code) as Any;
  assert.notEqual(whole, fn);
  const { code, variables } = captureForCalls(fn);
  if (variables === null) return whole;
  const { made } = releaseWhole(code);
  return made?.(variables) as Any;
}

function refusal(fn: unknown): { path: string; reason: string } {
  try {
    capture(fn);
  } catch (error) {
    assert.ok(error instanceof NotSendable, String(error));
    const { path, reason } = error;
    return { path, reason };
  }
  return assert.fail('it was not refused');
}

const table = new Map([['a', 1]]);
let counter = 10;
const env = process.env;
const { floor } = Math;

test('a closure arrives with its variables, of every scope around it', () => {
  const factor = 2;
  const list = new Float64Array([1, 2]);
  {
    const inner = { deep: [factor] };
    const fn = (x: number) => x * factor + (table.get('a') ?? 0) + list.length + inner.deep[0]!;
    assert.equal(sent(fn)(10), 25);
  }
});

test('a captured `let` is a snapshot: neither side sees what the other sets later', () => {
  const fn = () => (counter += 1);
  const made = sent(fn);
  counter = 100;
  assert.deepStrictEqual([made(), made(), counter], [11, 12, 100]);
});

test('names that only look captured are not: locals, properties, labels, parameters', () => {
  const x = new Socket();
  const use = () => x;
  const fn = (o: { x: number }) => {
    const inner = (x: number) => x + 1;
    for (;;) break;
    const { x: y } = o;
    return inner(o.x) + y + { x: 5 }.x;
  };
  assert.equal(sent(fn)({ x: 1 }), 8);
  assert.equal(refusal(use).path, 'x (captured by use)');
});

test('functions that it calls arrive too: recursion, one another, imports, methods', async () => {
  const isEven = (n: number): boolean => n === 0 || isOdd(n - 1);
  const isOdd = (n: number): boolean => n !== 0 && isEven(n - 1);
  assert.equal(sent(isEven)(10), true);
  function factorial(n: number): number {
    return n < 2 ? 1 : n * factorial(n - 1);
  }
  assert.equal(sent(factorial)(5), 120);
  assert.equal(sent((x: number) => scaled(x))(2), 14);
  const tools = {
    async twice(x: number) {
      return x * 2;
    },
    ['three' + 3]: () => 3,
  };
  assert.equal(await sent(tools.twice)(4), 8);
  assert.equal(await sent(async () => tools.twice(5))(), 10);
});

test('a class arrives with methods, fields, statics, private members and parents', () => {
  class Base {
    static made = 0;
    static {
      Base.made = 41;
    }
    tag = 'base';
    name(): string {
      return this.tag;
    }
  }
  class Derived extends Base {
    #secret = 7;
    static of(): Derived {
      return new Derived();
    }
    get secret(): number {
      return this.#secret;
    }
    [Symbol.iterator] = () => [1, 2].values();
    override name(): string {
      return `derived ${super.name()}`;
    }
  }
  const fn = () => {
    const one = Derived.of();
    return [one.name(), one.secret, Base.made, [...one], one instanceof Base];
  };
  Base.made += 1;
  assert.deepStrictEqual(sent(fn)(), ['derived base', 7, 42, [1, 2], true]);
});

test('old-style classes arrive with what was put on their prototypes', () => {
  const sloppy = new Script(`(function () {
    function Old(x) { this.x = x; }
    Old.prototype.double = function () { return this.x * 2; };
    Old.limit = 3;
    return function () { undeclared = new Old(4); return undeclared.double() + Old.limit; };
  })()`).runInThisContext();
  assert.equal(sent(sloppy)(), 11);
});

test('built-in functions, modules and namespaces keep their identity', async () => {
  assert.equal(sent(() => floor)(), floor);
  assert.equal(sent(() => readFile)(), readFile);
  assert.equal(sent(() => fs.existsSync)()('/'), true);
  const require = createRequire(import.meta.url);
  const path = require('node:path');
  assert.equal(sent(() => path.posix)(), path.posix);
  const { isArray } = Array;
  const { trim } = String.prototype;
  assert.deepStrictEqual(sent(() => [isArray, trim])(), [isArray, trim]);
  assert.equal(await sent(async () => (await import('node:os')).EOL)(), '\n');
});

test('import() of a relative path is resolved where the function was written', async () => {
  const fn = async (x: number) => (await import('./support/imported.ts')).scaled(x);
  assert.equal(await sent(fn)(3), 21);
});

test('secrets that nobody asked for stay: the environment is refused by name', () => {
  assert.deepStrictEqual(
    refusal(() => env['HOME']),
    {
      path: 'env (captured by the function)',
      reason: 'the environment is not sent; pass the values that are needed',
    },
  );
  const secret = 'hunter2';
  const keep = () => secret;
  const fn = (x: number) => x + floor(2.5);
  assert.equal(Buffer.from(capture(fn).code).includes('hunter2'), false);
  assert.equal(keep(), secret);
});

test('what is no function that could be sent is refused with the reason', () => {
  const client = { socket: new Socket() };
  const helper = () => client.socket;
  const simulate = () => helper();
  assert.deepStrictEqual(refusal(simulate), {
    path: 'client.socket (captured by helper, captured by simulate)',
    reason: 'a Socket of node:net lives in its process only; open or make it where it is used',
  });
  class Holder {
    #p = 1;
    static #s = 2;
    handle = () => this.#p;
    method() {
      return this.#p + Holder.#s;
    }
  }
  const holder = new Holder();
  const withSuper = {
    toString() {
      return super.toString();
    },
  };
  const rows: readonly (readonly [fn: unknown, reason: RegExp])[] = [
    [5, /no function but number/],
    [null, /no function but null/],
    [Math.max, /max is a native function; wrap it/],
    [simulate.bind(null), /bound function hides its target; write/],
    [function* () {}, /a generator, whose values stay/],
    [async function* () {}, /a generator, whose values stay/],
    [class {}, /a class; send a function/],
    [holder.handle, /uses `this` of the place/],
    [holder.method, /uses the private member #p of its class/],
    [() => Holder, /private static member \(#s\)/],
    [() => holder, /private (static )?member/],
    [() => import.meta.url, /uses `import.meta`/],
    [new Proxy(simulate, {}), /a Proxy does not travel/],
    [withSuper.toString, /uses `super`/],
  ];
  for (const [fn, reason] of rows) assert.match(refusal(fn).reason, reason);
});

test('the same code with the same values is the same function, wherever it was made', () => {
  const make = (factor: number, note: object) => (x: number) => [x * factor, note];
  const note = { a: [1] };
  const one = capture(make(2, note));
  assert.equal(one.sha256, capture(make(2, note)).sha256);
  assert.notEqual(one.sha256, capture(make(3, note)).sha256);
  assert.notEqual(one.sha256, capture(make(2, { a: [1] })).sha256, 'two objects stay two');
});

test('primitives that a function captured go with its calls, and its code is one', () => {
  const make = (factor: number, unit: string) => (x: number) => `${scaled(x) * factor} ${unit}`;
  const [one, other] = [captureForCalls(make(2, 'm')), captureForCalls(make(3, 'µs'))];
  assert.equal(one.sha256, other.sha256);
  assert.deepStrictEqual(
    [one.variables, other.variables],
    [
      [2, 'm'],
      [3, 'µs'],
    ],
  );
  const { made } = releaseWhole(one.code);
  assert.deepStrictEqual([made?.([2, 'm'])(1), made?.([3, 'µs'])(1)], ['14 m', '21 µs']);
  assert.throws(() => made?.([2]), /brings 1 values, its function has 2/);
});

test('what a call cannot bring stays in the code: objects, assigned variables, odd numbers', () => {
  const kept = { n: 1 };
  let count = 0;
  const [nothing, zero] = [Number.NaN, -0];
  const rows: readonly (() => unknown)[] = [
    () => kept.n + table.size,
    () => (count += 1),
    () => [nothing, zero],
  ];
  for (const fn of rows) assert.equal(captureForCalls(fn).variables, null, String(fn));
  const helper = (n: number): number => (n > 0 ? root(n - 1) : 0);
  const step = 5;
  const root = (n = 1): number => step + helper(n);
  assert.equal(captureForCalls(root).variables, null, 'its helper calls it by its name');
  assert.equal(sent(root)(), 10);
});

test('a captured shared value keeps its handle and is not sent along', () => {
  const { shared } = share(Buffer.alloc(100_000, 1));
  const fn = () => shared.value.length;
  const { code, shared: needed } = capture(fn);
  assert.deepStrictEqual(needed, [shared.sha256]);
  assert.ok(code.length < 2_000);
  assert.equal(releaseFunction(code, () => Buffer.alloc(3))(), 3);
});

test('generators, closures in collections and objects that hold each other arrive', () => {
  const items = function* (n: number) {
    for (let i = 0; i < n; i += 1) yield i;
  };
  const handlers = new Map([['double', (x: number) => x * 2]]);
  const cyclic: { fn?: unknown; handlers: typeof handlers } = { handlers };
  cyclic.fn = () => cyclic;
  const fn = (n: number) => [
    [...items(n)].map(handlers.get('double')!),
    (cyclic.fn as Any)() === cyclic,
  ];
  assert.deepStrictEqual(sent(fn)(3), [[0, 2, 4], true]);
});

test('[C14] an instance that comes back from a call within a call is one of the class there', () => {
  class Point {
    readonly x: number;
    constructor(x: number) {
      this.x = x;
    }
  }
  const make = (x: number) => new Point(x);
  const outer = sent(make);
  // As on a worker: a function that came here goes on, and what it makes there comes back.
  const both = releaseFunction(
    capture(() => ({ inner: () => new Point(2), isOne: (one: unknown) => one instanceof Point }))
      .code,
  )() as { inner: () => unknown; isOne: (one: unknown) => boolean };
  const inner = releaseFunction(capture(both.inner).code);
  const arrived = unpackResult(packResult(inner()));
  assert.equal(both.isOne(arrived), true);
  // And to the program, once that has sent its own class again.
  capture(make);
  assert.ok(unpackResult(packResult(outer(3))) instanceof Point);
});
