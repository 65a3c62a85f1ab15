// Values through packed values: what arrives is what was sent, and what cannot be sent is named.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import {
  releaseRead,
  type Stub,
  writeGraph,
} from '../../../../../../src/wings/calls/functions/serialization/graph-bytes.ts';
import { NotSendable } from '../../../../../../src/wings/calls/functions/serialization/not-sendable.ts';
import {
  type Graph,
  type Ref,
  WITH_TABLE,
} from '../../../../../../src/wings/calls/functions/serialization/packed-value.ts';
import {
  packArguments,
  packResult,
  packThrown,
  share,
  unpackArguments,
  unpackResult,
  unpackShared,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';

const there = (value: unknown) => unpackArguments(packArguments([value]).bytes)[0];
const back = (value: unknown) => unpackResult(packResult(value));
const thrown = (value: unknown) => unpackResult(packThrown(value));

function refusal(act: () => unknown): { path: string; reason: string } {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof NotSendable, String(error));
    const { path, reason } = error;
    return { path, reason };
  }
  return assert.fail('it was not refused');
}

test('an array that is mostly of holes travels as what is in it', () => {
  const list: number[] = [];
  list[2 ** 32 - 2] = 7;
  const startedAt = performance.now();
  const arrived = back(list) as number[];
  assert.deepEqual([arrived.length, arrived[2 ** 32 - 2]], [2 ** 32 - 1, 7]);
  assert.deepEqual(Object.keys(there(list) as object), [`${2 ** 32 - 2}`]);
  assert.ok(performance.now() - startedAt < 5000, 'the holes were not visited');
});

test('what structured clone carries arrives as it was, both ways', () => {
  const value = {
    zero: -0,
    none: undefined,
    big: 12345678901234567890n,
    text: 'späť 🚀',
    not: NaN,
    list: Object.assign(new Array(3), { 0: 1, 2: 3 }),
    map: new Map<unknown, unknown>([
      ['a', new Set([1, 'b'])],
      [{ key: 1 }, new Date(5)],
    ]),
    pattern: /a+/gi,
    bytes: Buffer.from('hello'),
    floats: new Float64Array([1.5, Infinity]),
    bigs: new BigUint64Array([2n ** 63n]),
    view: new DataView(new ArrayBuffer(4)),
    buffer: new Uint8Array([1, 2, 3]).buffer,
    boxed: Object(5),
  };
  assert.deepStrictEqual(there(value), value);
  assert.deepStrictEqual(back(value), value);
});

test('few primitives go by a shorter way, exactly as they are', () => {
  const rows = [
    undefined,
    null,
    0,
    -0,
    NaN,
    1.5,
    true,
    '',
    'späť 🚀',
    '\ud800',
    [],
    [1, 'b', null],
  ];
  for (const row of [...rows, [undefined], [-0], [NaN], new Array(3), [[1]], ['x'.repeat(5000)]]) {
    assert.deepStrictEqual(back(row), row);
    assert.deepStrictEqual(there(row), row);
  }
  assert.ok(packResult([1, 'b', null]).length < 20);
  const named = Object.assign([1], { unit: 'm' });
  assert.deepStrictEqual(back(named), named);
});

test('cycles and identities arrive, within and across arguments', () => {
  const cyclic: { self?: unknown; list: unknown[] } = { list: [] };
  cyclic.self = cyclic;
  cyclic.list.push(cyclic);
  const made = there(cyclic) as typeof cyclic;
  assert.equal(made.self, made);
  assert.equal(made.list[0], made);
  const [one, other] = unpackArguments(packArguments([cyclic, cyclic]).bytes);
  assert.equal(one, other);
});

test('a typed array arrives with a buffer of its own, as callees read `array.buffer`', () => {
  const whole = new Float32Array([1, 2, 3, 4]);
  const part = there(whole.subarray(1, 3)) as Float32Array;
  assert.deepStrictEqual([...part], [2, 3]);
  assert.equal(part.buffer.byteLength, 8);
  part[0] = 9;
  assert.equal(whole[1], 2);
});

test('a large packed value that was read is freed, unless buffers of the value lie in it', () => {
  const bytes = new Uint8Array(100_000).fill(7);
  for (const [value, isFreed] of [
    [bytes, true],
    [{ text: 'x'.repeat(100_000) }, true],
    [Buffer.from(bytes), false],
    [[bytes, { deep: Buffer.from(bytes) }], false],
  ] as const) {
    const packed = packResult(value);
    const read = unpackResult(packed);
    releaseRead(packed);
    assert.equal(packed.length === 0, isFreed);
    assert.deepEqual(read, value);
  }
  const small = packResult(new Uint8Array(1000));
  releaseRead(small);
  assert.ok(small.length > 1000);
});

test('an error arrives with class, message, stack, cause and own properties', () => {
  const cause = new RangeError('too far');
  const error = Object.assign(new TypeError('bad', { cause }), { code: 'E_BAD', at: { line: 3 } });
  for (const made of [thrown(error), there(error), back(error)] as (typeof error)[]) {
    assert.ok(made instanceof TypeError);
    assert.deepStrictEqual(
      [made.name, made.message, made.stack],
      ['TypeError', 'bad', error.stack],
    );
    assert.ok(made.cause instanceof RangeError);
    assert.equal(made.cause.message, 'too far');
    assert.deepStrictEqual([made.code, made.at], ['E_BAD', { line: 3 }]);
    assert.equal(Object.keys(made).includes('message'), false);
  }
});

test('an error of a class of the user arrives as the nearest class known everywhere', () => {
  class SolverError extends RangeError {
    override name = 'SolverError';
    residual = 0.5;
  }
  const made = thrown(new SolverError('diverged')) as SolverError;
  assert.ok(made instanceof RangeError);
  assert.deepStrictEqual([made.name, made.residual], ['SolverError', 0.5]);
  const many = thrown(new AggregateError([new Error('a'), 5], 'all')) as AggregateError;
  assert.ok(many instanceof AggregateError);
  assert.deepStrictEqual([many.errors[0].message, many.errors[1]], ['a', 5]);
  const both = thrown(new SuppressedError(new Error('close'), new RangeError('run'), 'two'));
  assert.ok(both instanceof SuppressedError);
  assert.deepStrictEqual([both.error.message, both.suppressed.message], ['close', 'run']);
  assert.deepStrictEqual(Object.keys(both), []);
});

test('a DOMException arrives as one, with its name and code', () => {
  const sent = new DOMException('too late', 'AbortError');
  const made = thrown(sent) as DOMException;
  assert.ok(made instanceof DOMException);
  const { name, message, code } = made;
  assert.deepEqual({ name, message, code }, { name: 'AbortError', message: 'too late', code: 20 });
  assert.equal(code, DOMException.ABORT_ERR);
  assert.equal(made.stack, sent.stack);
  assert.deepEqual(Object.keys(made), []);
  const again = thrown(new Error('outer', { cause: made })) as Error;
  assert.equal((again.cause as DOMException).code, 20, 'it may be sent on');
  const named = thrown(new DOMException('', { name: 'Own', cause: 5 })) as DOMException;
  assert.deepEqual([named.name, named.code, named.cause], ['Own', 0, 5]);
  const bare = thrown(Object.create(DOMException.prototype)) as DOMException;
  assert.equal(bare.code, 0);
});

test('no result is an iterator, which would arrive as an empty object', () => {
  const told = refusal(() => packResult(new Set([1]).values()));
  assert.match(told.reason, /an iterator does not travel; collect what it gives into an array/);
});

test('an error arrives whatever it carries: words stand for what cannot be sent', () => {
  const error = Object.assign(new Error('no line'), { socket: new Socket(), code: 5 });
  Object.defineProperty(error, 'late', { enumerable: true, get: () => assert.fail('was read') });
  const made = thrown(error) as unknown as Record<string, unknown>;
  assert.equal(made['code'], 5);
  assert.match(String(made['socket']), /^\[not sent: .*Socket/);
  assert.equal(made['message'], 'no line');
  const own = new Error('me');
  own.cause = own;
  const cyclic = thrown(own) as Error;
  assert.equal(cyclic.cause, cyclic);
});

test('anything may be thrown, even what cannot be sent', () => {
  assert.equal(thrown(undefined), undefined);
  assert.equal(thrown('words'), 'words');
  assert.match((thrown(() => 1) as Error).message, /threw a value that cannot be sent.*functions/);
  const hostile = new Proxy({}, { get: () => assert.fail('was read') });
  assert.match((thrown(hostile) as Error).message, /a Proxy/);
});

test('what cannot be sent is refused by its path', () => {
  const rows: readonly (readonly [value: unknown, path: string, reason: RegExp])[] = [
    [{ db: { socket: new Socket() } }, 'args[0].db.socket', /Socket of node:net lives in its pro/],
    [[1, [Promise.resolve(1)]], 'args[0][1][0]', /promise; await it first/],
    [new Map([['k', new WeakMap()]]), 'args[0].get("k")', /weak collections/],
    [{ 'odd key': new Proxy({}, {}) }, 'args[0]["odd key"]', /a Proxy does not travel/],
    [{ e: process.env }, 'args[0].e', /the environment is not sent/],
    [{ s: Symbol('mine') }, 'args[0].s', /Symbol\(mine\) is unique; use Symbol.for/],
    [{ b: new SharedArrayBuffer(8) }, 'args[0].b', /memory cannot be shared/],
    [{ g: (function* () {})() }, 'args[0].g', /running generator/],
    [{ m: new Map([[1, 2]]).keys() }, 'args[0].m', /an iterator does not travel; collect/],
    [['ab'.matchAll(/./g)], 'args[0][0]', /an iterator does not travel/],
    [[1].values().map(String), 'args[0]', /an iterator does not travel/],
    [{ c: new AbortController() }, 'args[0].c', /AbortController lives in its process/],
    [{ f: Math.max.bind(null, 1) }, 'args[0].f', /bound function/],
    [{ i: process.stdout }, 'args[0].i', /lives in its process|kind of/],
  ];
  for (const [value, path, reason] of rows) {
    const told = refusal(() => packArguments([value]));
    assert.equal(told.path, path);
    assert.match(told.reason, reason);
  }
});

test('a getter is read; one that throws is named', () => {
  assert.deepStrictEqual(
    there({
      get three() {
        return 3;
      },
    }),
    { three: 3 },
  );
  const value = {
    inner: {
      get bad(): number {
        throw new Error('no such row');
      },
    },
  };
  const told = refusal(() => packArguments([value]));
  assert.deepStrictEqual(told, {
    path: 'args[0].inner.bad',
    reason: 'its getter threw: no such row',
  });
});

test('a value that is too large is refused before it is cloned', () => {
  const large = { rows: [new Uint8Array(600e6), new Uint8Array(600e6)] };
  const told = refusal(() => packArguments([large]));
  assert.match(told.reason, /more than 1073741824 bytes; use a file/);
  assert.equal(told.path, 'args');
});

test('a value that is nested too deeply is refused, not a crash', () => {
  let deep: unknown[] = [];
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  assert.match(refusal(() => packArguments([deep])).reason, /nested too deeply/);
});

class Point {
  readonly x: number;
  constructor(x: number) {
    this.x = x;
  }
  double(): number {
    return this.x * 2;
  }
}

test('an instance arrives at a worker with its class, and from one of its own as plain data', () => {
  assert.equal((there({ p: new Point(4) }) as { p: Point }).p.double(), 8);
  class Own {
    x = 4;
  }
  assert.deepStrictEqual(back(new Own()), { x: 4 }, 'of a class that the program did not send');
  class Room extends EventEmitter {
    guests = 3;
  }
  const room = there(new Room()) as Room;
  assert.equal(room.guests, 3);
  assert.equal(room.on('x', () => undefined).emit('x'), true);
});

test('an instance with private members is refused: nobody can read them', () => {
  class Account {
    #balance = 5;
    show(): number {
      return this.#balance;
    }
  }
  const told = refusal(() => packArguments([[new Account()]]));
  assert.equal(told.path, 'args[0][0]');
  assert.match(told.reason, /Account has private members \(#balance\)/);
});

test('functions within arguments arrive, functions within results are refused', () => {
  const factor = 3;
  const options = { scale: (x: number) => x * factor, max: Math.max };
  const made = there(options) as typeof options;
  assert.equal(made.scale(4), 12);
  assert.equal(made.max, Math.max);
  assert.deepStrictEqual(refusal(() => packResult({ f: () => 1 })).path, 'result.f');
});

test('symbols that are known everywhere arrive, URLs as well', () => {
  const value = { s: Symbol.for('weft'), i: Symbol.iterator, u: new URL('http://a.example/b?c') };
  const made = there(value) as typeof value;
  assert.deepStrictEqual([made.s, made.i, made.u.href], [value.s, value.i, value.u.href]);
});

test('a shared value goes by its hash, once per packed value', () => {
  const { shared, bytes } = share({ grid: new Float64Array([1, 2]) });
  const packed = packArguments([shared, { again: shared }, 5]);
  assert.deepStrictEqual(packed.shared, [shared.sha256]);
  assert.ok(packed.bytes.length < 600);
  const value = unpackShared(bytes);
  const [one, two] = unpackArguments(packed.bytes, (sha256) =>
    sha256 === shared.sha256 ? value : assert.fail(),
  ) as [unknown, { again: unknown }];
  assert.equal(one, value);
  assert.equal(two.again, value);
  assert.equal(share({ grid: new Float64Array([1, 2]) }).shared.sha256, shared.sha256);
});

test('garbage is refused, never run', () => {
  for (const bytes of [[], [7], [1, 0, 0, 0, 0], [1, 255, 255, 255, 255, 0], [0, 1, 2, 3]]) {
    assert.throws(() => unpackResult(Uint8Array.from(bytes)));
  }
  const code = packArguments([() => 1]).bytes;
  assert.throws(() => unpackResult(code), /functions are not part of results/);
});

/**
 * A result as no worker of this release writes it: a stub for `ref`, which is to get a property.
 */
function forged(ref: Ref): Uint8Array {
  const stub: Stub = new Uint8Array(0);
  const head = writeGraph({ functions: [], refs: [ref] });
  const prefix = Buffer.concat([Uint8Array.of(WITH_TABLE, 0, 0, 0, 0), head]);
  prefix.writeUInt32LE(head.length, 1);
  const graph: Graph = {
    root: 'innocent',
    cells: [],
    prototypes: [],
    instances: [],
    errors: [],
    patches: [],
    properties: [[stub, { weftForged: 'by a result' }]],
  };
  return writeGraph(graph, { stubs: new Map([[stub, 0]]), prefix });
}

test('a result reaches nothing that its reader has: no globals, no built-ins, no prototypes', () => {
  const path = ['Object', 'prototype'];
  const refs: Ref[] = [
    { is: 'builtin', module: null, path },
    { is: 'builtin', module: 'child_process', path: ['execSync'] },
    { is: 'global' },
    { is: 'context' },
    { is: 'require', base: '/' },
  ];
  for (const ref of refs) {
    assert.throws(
      () => unpackResult(forged(ref)),
      new RegExp(`'${ref.is}' is not part of results`),
    );
  }
  for (const key of ['prototype', 'constructor', 'for']) {
    assert.throws(() => unpackResult(forged({ is: 'symbol', key, isWellKnown: true })));
  }
  const touched = [globalThis, Object.prototype, Symbol, Symbol.prototype, Symbol.for, Function];
  for (const one of touched) assert.ok(!Object.hasOwn(one, 'weftForged'));
});
