// Variables that functions have in common: one there as here, or refused by name.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotSendable } from '../../../../../../src/wings/calls/functions/serialization/not-sendable.ts';
import {
  WITH_GROUPS,
  WITH_TABLE,
} from '../../../../../../src/wings/calls/functions/serialization/packed-value.ts';
import {
  capture,
  packArguments,
  releaseFunction,
  releaseWhole,
  share,
} from '../../../../../../src/wings/calls/functions/serialization/values.ts';
import { count, get, inc, count as total } from './support/state.ts';

// biome-ignore lint/suspicious/noExplicitAny: functions of any shape are sent here.
const sent = <T extends (...args: any[]) => unknown>(fn: T): T =>
  releaseFunction(capture(fn).code) as T;

let top = 0;
const bumpTop = (): void => {
  top += 1;
};

test('[C12] a variable that two functions use is one there too: of a module, an import, a scope', () => {
  const fromTop = () => {
    bumpTop();
    bumpTop();
    return top;
  };
  assert.equal(sent(fromTop)(), 2);
  const imported = () => {
    inc();
    inc();
    return [get(), count, total];
  };
  assert.deepStrictEqual(sent(imported)(), [2, 2, 2]);
  let n = 5;
  const bump = () => {
    n += 1;
  };
  const inScope = () => {
    bump();
    return n;
  };
  assert.equal(sent(inScope)(), 6);
  assert.deepStrictEqual([top, get(), n], [0, 0, 5], 'nothing was changed here');
});

test('[C12] two variables of one name and value stay two, whatever is around them', () => {
  const make = () => {
    let n = 0;
    return { inc: () => ++n, get: () => n };
  };
  const [one, other] = [make(), make()];
  const mixed = () => {
    one.inc();
    one.inc();
    other.inc();
    return [one.get(), other.get()];
  };
  assert.deepStrictEqual(sent(mixed)(), [2, 1]);
  let get = 1;
  const hide = () => {
    get += 1;
    return make;
  };
  const shadowed = () => [hide().length, get, structuredClone(get)];
  assert.deepStrictEqual(sent(shadowed)(), [0, 2, 2]);
});

test('[C12] a function that assigns variables, alone or with others, is good for one call', () => {
  let n = 0;
  const bump = () => {
    n += 1;
  };
  const both = () => {
    bump();
    return n;
  };
  const isForOneCall = (fn: () => unknown) => releaseWhole(capture(fn).code).isForOneCall;
  assert.deepStrictEqual([bump, both, () => n].map(isForOneCall), [true, true, false]);
});

test('[C12] a variable is not split between a shared value and a call', () => {
  let n = 0;
  const bump = () => {
    n += 1;
  };
  assert.match(
    refusal(() => share({ bump })),
    /Cannot send n: bump assigns it, and is part of a shared value.*property of an object/,
  );
  const { shared } = share({ get: () => n });
  const captured = () => {
    n += 1;
    return shared.value.get();
  };
  assert.match(
    refusal(() => capture(captured)),
    /Cannot send n: captured assigns it and get uses it.*in a shared value/,
  );
  const { uses } = capture(bump);
  for (const args of [[shared], [{ deep: [shared] }]])
    assert.match(
      refusal(() => packArguments(args, uses)),
      /bump assigns it and get uses it/,
    );
  const reader = capture(() => shared.value.get());
  assert.match(
    refusal(() => packArguments([bump], reader.uses)),
    /bump assigns it and get uses it/,
  );
  assert.match(
    refusal(() => packArguments([bump, shared])),
    /bump assigns it and get uses it/,
  );
  assert.deepStrictEqual(packArguments([shared], reader.uses).shared, [shared.sha256]);
  assert.match(
    refusal(() => share([shared])),
    /the shared value: it holds another shared value/,
  );
});

test('[C12] equal functions with objects of their own do not share them', () => {
  const make = () => {
    const seen: number[] = [];
    return () => seen.push(1);
  };
  assert.notEqual(capture(make()).sha256, capture(make()).sha256);
});

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    assert.ok(error instanceof NotSendable, String(error));
    return error.message;
  }
  return assert.fail('it was not refused');
}

test('[C12] what cannot be kept is refused by name', () => {
  let n = 0;
  const bump = () => {
    n += 1;
  };
  const callee = (f: () => void) => {
    f();
    return n;
  };
  const { uses } = capture(callee);
  assert.match(
    refusal(() => packArguments([bump], uses)),
    /Cannot send n: bump assigns it and callee uses it/,
  );
  class Field {
    x = ++n;
  }
  assert.match(
    refusal(() => capture(() => [new Field().x, n])),
    /Cannot send n: nobody can tell whether Field.*property of an object/,
  );
  const early = () => late;
  assert.match(
    refusal(() => capture(early)),
    /Cannot send late .*has no value yet/,
  );
  const late = 1;
  // biome-ignore lint/security/noGlobalEval: it is what is refused.
  const evaluating = () => eval('n');
  assert.match(
    refusal(() => capture(evaluating)),
    /it calls `eval`/,
  );
  const odd = Object.create({ inherited: 1 }) as { inherited: number };
  assert.match(
    refusal(() => capture(() => odd.inherited)),
    /its prototype is an object/,
  );
  class Patched {
    m() {
      return 1;
    }
  }
  Patched.prototype.m = () => 2;
  assert.match(
    refusal(() => capture(() => new Patched().m())),
    /its m was replaced/,
  );
  assert.equal(late, 1);
  const key = `k${n}`;
  class Computed {
    [key]() {
      return 1;
    }
  }
  assert.match(
    refusal(() => capture(() => new Computed())),
    /a computed name of a member/,
  );
  const bytes = new Uint8Array(8);
  const words = new Uint32Array(bytes.buffer);
  const both = () => {
    words[0] = 1;
    return bytes[0];
  };
  assert.match(
    refusal(() => capture(both)),
    /Cannot send bytes .*shares its bytes/,
  );
});

test('[C12] captured objects keep getters, symbols, being frozen, and having no prototype', () => {
  let n = 0;
  const odd = Object.freeze(
    Object.assign(Object.create(null) as object, { [Symbol.for('weft')]: 3 }),
  ) as { [key: symbol]: number };
  const box = {
    get next() {
      n += 1;
      return n;
    },
  };
  const fn = () => [
    ...[box.next, box.next, odd[Symbol.for('weft')]],
    ...[Object.isFrozen(odd), Object.getPrototypeOf(odd)],
  ];
  assert.deepStrictEqual(sent(fn)(), [1, 2, 3, true, null]);
  assert.equal(n, 0, 'the getter did not run here');
});

test('[C12] captured objects keep what their properties are, and take no more than they did', () => {
  const key = Symbol.for('weft');
  const odd = Object.seal(
    Object.defineProperties({ plain: 1 } as Record<string | symbol, unknown>, {
      fixed: { value: 2, enumerable: true, configurable: true },
      hidden: { value: { deep: 3 }, writable: true, configurable: true },
      [key]: { value: key, writable: true },
    }),
  );
  const map = Object.assign(new Map([['a', 1]]), { label: 'm' });
  const list = Object.preventExtensions([1, 2]);
  const date = Object.freeze(new Date(5));
  const tagged = Object.assign(
    Object.freeze(Object.defineProperty(() => 7, 'hidden', { value: 8 })),
  ) as (() => number) & { hidden: number };
  const marked = Object.assign(() => 0, { key });
  const look = () => [
    ...[Object.getOwnPropertyDescriptors(odd), Object.isSealed(odd), odd[key] === key].map((one) =>
      typeof one === 'boolean' ? one : JSON.stringify([one, Reflect.ownKeys(one).length]),
    ),
    ...[map.label, map.get('a'), list.length, Object.isExtensible(list), Object.isFrozen(date)],
    ...[tagged(), tagged.hidden, Object.isFrozen(tagged), marked.key === key],
  ];
  assert.deepStrictEqual(sent(look)(), look());
  assert.equal(look().includes(undefined), false);
  const Old = function Old() {} as unknown as { new (): object; prototype: object };
  Object.freeze(Old.prototype);
  assert.match(
    refusal(() => capture(() => new Old())),
    /takes no new properties/,
  );
});

test('[C12] what a worker of 0.1.0 would pass over goes as a packed value that it refuses', () => {
  const [bare, frozen] = [Object.create(null) as { a?: 1 }, Object.freeze({ a: 1 })];
  const box = {
    get a() {
      return 1;
    },
  };
  let n = 0;
  const sealed = Object.seal({ a: 1 });
  const fns = [() => bare.a, () => frozen.a, () => box.a, () => ++n, () => sealed.a];
  for (const fn of fns) assert.equal(capture(fn).code[0], WITH_GROUPS, String(fn));
  const open = { a: [1] };
  assert.equal(capture(() => open.a).code[0], WITH_TABLE);
});
