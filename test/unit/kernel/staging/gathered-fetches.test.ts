// Small files of several tasks of a job in one request: all get theirs, and nobody fails for
// another.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { frameHeader } from '../../../../src/kernel/api/blob-frames.ts';
import type { BlobHash } from '../../../../src/kernel/model/blob.ts';
import { refuse } from '../../../../src/kernel/model/errors.ts';
import { failure } from '../../../../src/kernel/model/failure.ts';
import type { JobId } from '../../../../src/kernel/model/ids.ts';
import { GatheredFetches } from '../../../../src/kernel/staging/gathered-fetches.ts';
import type { HeadAccess } from '../../../../src/kernel/transfer/head-access.ts';

const JOB = 7 as JobId;
const LARGE = 1_000_000;

function hashOf(text: string): BlobHash {
  return createHash('sha256').update(text).digest('hex') as BlobHash;
}

/** A head that answers when it is told to. */
function world() {
  const contents = new Map<string, string>();
  const asked: { readonly of: string; readonly hashes: readonly string[] }[] = [];
  const pending: (() => void)[] = [];
  const answer = (hashes: readonly string[]) => {
    const texts = hashes.map((hash) => contents.get(hash));
    const lost = hashes.find((hash) => !contents.has(hash));
    if (lost !== undefined) throw failure(refuse('blob.not_found', { hash: lost }));
    const frames = texts.map((text = '', at) =>
      Buffer.concat([frameHeader(hashes[at] as BlobHash, text.length), Buffer.from(text)]),
    );
    return Object.assign(Readable.from([Buffer.concat(frames)]), { headers: {}, status: 200 });
  };
  const accessOf = (of: string, signal: AbortSignal) => {
    const stream = (_route: string, { body }: { body: { hashes: string[] } }) => {
      asked.push({ of, hashes: body.hashes });
      return new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        pending.push(() => resolve(Promise.resolve(body.hashes).then(answer)));
      });
    };
    const head = { address: 'head', stream };
    const patiently = (_note: string, attempt: () => unknown) => attempt();
    return { head: () => Promise.resolve(head), patiently } as unknown as HeadAccess;
  };
  const fetches = new GatheredFetches();
  const fetch = (of: string, texts: readonly string[], { bytes = 10, isLost = false } = {}) => {
    const stop = new AbortController();
    const named = texts.map((text) => ({ hash: hashOf(text), path: text }));
    if (!isLost) for (const text of texts) contents.set(hashOf(text), text);
    const access = accessOf(of, stop.signal);
    const ask = { access, contents: named, bytes, signal: stop.signal };
    const came = fetches
      .fetch(JOB, ask)
      .then((all) => texts.map((text) => Buffer.from(all.get(hashOf(text)) ?? []).toString()));
    return { came, stop: () => stop.abort(new Error(`${of} is not wanted`)) };
  };
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  };
  /** Lets the head answer what it is asked by now. */
  const release = async (): Promise<void> => {
    await turns();
    for (const one of pending.splice(0)) one();
    await turns();
  };
  return { asked, fetch, release, turns };
}

test('what gathers while an answer is on its way comes in one request', async () => {
  const { asked, fetch, release } = world();
  const tasks = ['a', 'b', 'c', 'd'].map((of) => fetch(of, [`${of}1`, `${of}2`, 'same']));
  await release();
  await release();
  const all = await Promise.all(tasks.map(({ came }) => came));
  assert.deepEqual(all[0], ['a1', 'a2', 'same']);
  assert.deepEqual(all[3], ['d1', 'd2', 'same']);
  assert.deepEqual(
    asked.map(({ of, hashes }) => [of, hashes.length]),
    [
      ['a', 3],
      ['b', 7],
    ],
  );
  const later = fetch('e', ['e1']);
  await release();
  assert.deepEqual(await later.came, ['e1'], 'and nobody waits for a request that is over');
});

test('a task fails for what it needs itself, and not for what another one needs', async () => {
  const { asked, fetch, release } = world();
  const first = fetch('a', ['a1']);
  const lost = fetch('b', ['b1'], { isLost: true });
  const whole = fetch('c', ['c1']);
  const failed = assert.rejects(lost.came, { code: 'blob.not_found' });
  for (let turn = 0; turn < 4; turn += 1) await release();
  assert.deepEqual(await first.came, ['a1']);
  await failed;
  assert.deepEqual(await whole.came, ['c1']);
  assert.deepEqual(
    asked.map(({ of }) => of),
    ['a', 'b', 'b', 'c'],
  );
});

test('a task that is not wanted any more ends at once, and stops nobody else', async () => {
  const { fetch, release, turns } = world();
  const first = fetch('a', ['a1']);
  const second = fetch('b', ['b1']);
  const third = fetch('c', ['c1']);
  const gone = [first, second].map(({ came }) => assert.rejects(came, /is not wanted/));
  await turns();
  second.stop();
  first.stop();
  await Promise.all(gone);
  for (let turn = 0; turn < 3; turn += 1) await release();
  assert.deepEqual(await third.came, ['c1']);
});

test('a request has no more bytes than may be in memory', async () => {
  const { asked, fetch, release } = world();
  const tasks = ['a', 'b', 'c'].map((of) => fetch(of, [of], { bytes: LARGE }));
  for (let turn = 0; turn < 3; turn += 1) await release();
  await Promise.all(tasks.map(({ came }) => came));
  assert.deepEqual(
    asked.map(({ of }) => of),
    ['a', 'b', 'c'],
  );
});
