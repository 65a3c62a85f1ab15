// Packs that are tidied: what is needed stays, with everybody who holds it, whatever comes and goes
// meanwhile and whenever the head is killed.

import assert from 'node:assert/strict';
import { hash as hashOf } from 'node:crypto';
import { cpSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import type { SmallContent } from '../../../../../src/kernel/head/packs/pack-format.ts';
import { Packs } from '../../../../../src/kernel/head/packs/packs.ts';
import type { BlobHash } from '../../../../../src/kernel/model/blob.ts';

const SMALL = { packBytesMax: 4000, tidiedBytesMin: 600, movedBytes: 300 };

function contentOf(text: string): SmallContent {
  return { hash: hashOf('sha256', text, 'hex') as BlobHash, bytes: Buffer.from(text) };
}

function many(name: string, count: number, bytes: number): SmallContent[] {
  return Array.from({ length: count }, (_, at) => contentOf(`${name} ${at} `.padEnd(bytes, 'x')));
}

async function bench(t: Pick<TestContext, 'after'>, sizes?: typeof SMALL) {
  const directory = await mkdtemp(path.join(tmpdir(), 'weft-tidy-'));
  const open = (folder = directory): Packs => {
    const packs = new Packs(folder, () => 0, sizes);
    packs.prepare();
    return packs;
  };
  const made = {
    directory,
    packs: open(),
    open,
    restart: async () => {
      await made.packs.close();
      made.packs = open();
    },
    count: (contents: readonly SmallContent[]) =>
      contents.filter(({ hash, bytes }) => made.packs.read(hash)?.equals(bytes)).length,
  };
  t.after(async () => {
    await made.packs.close();
    rmSync(directory, { recursive: true });
  });
  return made;
}

test('a pack that has taken in what is needed of an older one stays', async (t) => {
  const made = await bench(t);
  const full = many('full', 4200, 16_000);
  for (let at = 0; at < full.length; at += 600) {
    await made.packs.append('alice', full.slice(at, at + 600));
  }
  const last = many('last', 20, 16_000);
  await made.packs.append('alice', last);
  assert.deepEqual(readdirSync(made.directory), ['1', '2']);
  for (const { hash } of full.slice(800)) made.packs.remove(hash);
  // Of the last one little is needed as well.
  for (const { hash } of last.slice(5)) made.packs.remove(hash);
  const needed = [...full.slice(0, 800), ...last.slice(0, 5)];
  await made.packs.tidy();
  for (const turn of ['at once', 'for the next head']) {
    assert.equal(made.count(needed), needed.length, turn);
    await made.restart();
  }
  assert.deepEqual(readdirSync(made.directory), ['2']);
});

test('whoever holds what lies in another pack holds it when the pack that says so has gone', async (t) => {
  const made = await bench(t, SMALL);
  const both = contentOf('of both'.padEnd(200, '.'));
  await made.packs.append('alice', [both, ...many('alice', 20, 200)]);
  const bobs = many('bob', 10, 200);
  await made.packs.append('bob', [both, ...bobs]);
  await made.packs.append('alice', many('more', 20, 200));
  for (const { hash } of bobs) made.packs.remove(hash);
  assert.deepEqual(readdirSync(made.directory), ['1', '2']);
  // Of the second pack as well.
  for (const { hash } of many('more', 20, 200)) made.packs.remove(hash);
  await made.packs.tidy();
  assert.equal(readdirSync(made.directory).includes('2'), false);
  for (const turn of ['at once', 'for the next head']) {
    assert.deepEqual([...made.packs.holdersOf(both.hash)].sort(), ['alice', 'bob'], turn);
    assert.equal(made.count([both]), 1);
    await made.restart();
  }
});

test('contents that many hold are not moved again and again', async (t) => {
  const made = await bench(t, SMALL);
  const all = many('same', 10, 200);
  for (const user of ['alice', 'bob', 'carol']) await made.packs.append(user, all);
  await made.packs.append('alice', many('last', 5, 200));
  const before = readdirSync(made.directory);
  await made.packs.tidy();
  assert.deepEqual(readdirSync(made.directory), before);
});

test('a pack of which something needed cannot be read stays', async (t) => {
  const made = await bench(t, SMALL);
  const all = many('some', 10, 200);
  await made.packs.append('alice', all);
  for (const { hash } of all.slice(0, -1)) made.packs.remove(hash);
  truncateSync(path.join(made.directory, '1'), 1000);
  await made.packs.tidy();
  assert.deepEqual(readdirSync(made.directory), ['1']);
  assert.equal(statSync(path.join(made.directory, '1')).size, 1000);
});

const POOL = Array.from({ length: 24 }, (_, at) =>
  contentOf(`${at} `.padEnd(40 + ((at * 97) % 400), 'x')),
);
const chosen = fc.uniqueArray(fc.nat(POOL.length - 1), { minLength: 1, maxLength: 12 });
const user = fc.constantFrom('alice', 'bob', 'carol');
const change = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), user, chosen }),
  fc.record({ kind: fc.constant('remove' as const), chosen }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
const step = fc.oneof(
  { weight: 4, arbitrary: change },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('tidy' as const), meanwhile: fc.array(change) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
);

/** What has to be there: who holds each. */
type Model = Map<BlobHash, Set<string>>;

function checkAll(packs: Packs, model: Model, isExact: boolean, when: string): void {
  for (const { hash, bytes } of POOL) {
    const users = model.get(hash);
    if (users === undefined) {
      if (isExact) assert.equal(packs.read(hash), null, `${when}: it was removed`);
      continue;
    }
    assert.ok(packs.read(hash)?.equals(bytes), `${when}: ${bytes} is there`);
    for (const one of users) assert.ok(packs.isHeld(one, hash), `${when}: ${one} holds ${bytes}`);
  }
}

type Bench = Awaited<ReturnType<typeof bench>>;

/** What a head finds that starts on what is on the disk at this moment. */
async function checkKilled(made: Bench, model: Model): Promise<void> {
  const copy = `${made.directory}.copy`;
  cpSync(made.directory, copy, { recursive: true });
  const packs = made.open(copy);
  checkAll(packs, model, false, 'after a kill');
  await packs.close();
  rmSync(copy, { recursive: true });
}

function apply(made: Bench, model: Model, one: Change): Promise<void> {
  const contents = one.chosen.map((at) => POOL[at] as SmallContent);
  if (one.kind === 'remove') {
    for (const { hash } of contents) {
      made.packs.remove(hash);
      model.delete(hash);
    }
    return Promise.resolve();
  }
  return made.packs.append(one.user, contents).then(() => {
    for (const { hash } of contents) {
      model.set(hash, (model.get(hash) ?? new Set()).add(one.user));
    }
  });
}

async function restart(made: Bench, model: Model): Promise<void> {
  await made.restart();
  // What was removed may be there again: it is idle, and goes once more.
  for (const { hash } of POOL) if (!model.has(hash)) made.packs.remove(hash);
}

test('whatever comes, goes and is tidied meanwhile, what was told is there, also after a kill', async () => {
  let tidied = 0;
  const property = fc.asyncProperty(
    fc.array(step, { minLength: 6, maxLength: 14 }),
    async (steps) => {
      const ends: (() => Promise<void>)[] = [];
      const made = await bench(
        { after: (end) => void ends.push(end as () => Promise<void>) },
        SMALL,
      );
      const model: Model = new Map();
      try {
        for (const one of steps) {
          if (one.kind === 'restart') await restart(made, model);
          else if (one.kind === 'tidy') {
            const before = readdirSync(made.directory).join();
            const under = [made.packs.tidy()];
            for (const each of one.meanwhile) {
              under.push(apply(made, model, each));
              await new Promise(setImmediate);
              await checkKilled(made, model);
            }
            await Promise.all(under);
            if (readdirSync(made.directory).join() !== before) tidied += 1;
          } else await apply(made, model, one);
          checkAll(made.packs, model, true, 'at once');
          await checkKilled(made, model);
        }
      } finally {
        for (const end of ends) await end();
      }
    },
  );
  await fc.assert(property, { numRuns: 15, endOnFailure: true });
  assert.ok(tidied > 3, 'packs have come or gone by it');
});
