// Backups in a bucket: signed, sent piece by piece, read again, pruned, and brought back.

import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Failure } from '../../../../src/kernel/model/failure.ts';
import { openSqliteStore } from '../../../../src/kernel/store/sqlite/open.ts';
import { PIECE_BYTES, packIndex } from '../../../../src/wings/backups/api/bucket-index.ts';
import { makeBackup } from '../../../../src/wings/backups/bin/make-backup.ts';
import { sendBackup } from '../../../../src/wings/backups/bin/send-backup.ts';
import {
  type BucketPlace,
  isPlace,
  parseBucket,
} from '../../../../src/wings/backups/core/place.ts';
import { Bucket } from '../../../../src/wings/backups/transfer/bucket.ts';
import { readBucketKeys } from '../../../../src/wings/backups/transfer/bucket-keys.ts';
import { bucketBackups, fetchBackup } from '../../../../src/wings/backups/transfer/from-bucket.ts';
import {
  checkFree,
  openBackup,
  problemsOf,
  restore,
} from '../../../../src/wings/backups/transfer/restore.ts';
import { signed } from '../../../../src/wings/backups/transfer/signing.ts';
import { StandIn } from '../../../support/bucket-stand-in.ts';
import { makeFolder } from '../../../support/folder.ts';

const PLACE = 's3://lab/weft/heads';
const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 10, 28, 7);

async function world(t: TestContext) {
  const store = await StandIn.start(t);
  store.age = 2 * DAY_MS;
  const at = parseBucket(PLACE);
  assert.ok(at !== null);
  const pauses: number[] = [];
  const bucket = new Bucket(at, store.keys, {
    now: Date.now,
    pause: async (ms) => void pauses.push(ms),
  });
  const folder = makeFolder(t, {
    'head/stamp.key': 'k'.repeat(32),
    'head/logs/0/1/out': 'hello\n',
    'head/logs/0/2/out': 'hello\n',
    'head/logs/0/3/empty': '',
    'weft.yaml': 'cluster: {name: lab}\n',
  });
  const from = join(folder, 'head');
  chmodSync(join(from, 'logs/0/1/out'), 0o640);
  const database = await openSqliteStore({ directory: from });
  t.after(() => database.close());
  await database.recover();
  let times = 0;
  const send = async ({ keep = 24 } = {}) => {
    times += 1;
    const order = {
      from,
      to: join(folder, 'sent'),
      keep: 1,
      at: START + times * 60_000,
      cluster: 'lab',
      weft: '0.2.0',
      configuration: [join(folder, 'weft.yaml')],
      keysFile: null,
    };
    const made = makeBackup(order, { now: Date.now, tell: () => undefined, free: () => Infinity });
    const left = await sendBackup(made, bucket, { keep, tell: () => undefined });
    return { ...made, left, place: `${PLACE}/${made.header.head}/${made.name}` };
  };
  const fetched = async (place: string, keys = store.keys) => {
    const to = makeFolder(t, {});
    const open = (one: BucketPlace) =>
      new Bucket(one, keys, { now: Date.now, pause: async () => undefined });
    await fetchBackup(place, open, to);
    return openBackup(to);
  };
  const list = async () => (await bucketBackups(bucket, PLACE)).map(({ folder: one }) => one);
  return { store, bucket, pauses, folder, from, send, fetched, list };
}

test('[U8] requests are signed as the documents of AWS sign them', () => {
  const signer = {
    id: 'AKIAIOSFODNN7EXAMPLE',
    secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  };
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const sign = (path: string, headers = {}) => {
    const url = new URL(`https://examplebucket.s3.amazonaws.com/${path}`);
    const request = { method: 'GET', url, headers, bodySha256: empty };
    return signed(request, signer, Date.UTC(2013, 4, 24))['authorization']?.split('Signature=')[1];
  };
  assert.equal(
    sign('test.txt', { range: 'bytes=0-9' }),
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
  assert.equal(
    sign('?max-keys=2&prefix=J'),
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  );
  assert.equal(
    sign('?lifecycle'),
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  );
});

test('[U8] a backup in a bucket is put back as it was, and only what is new is sent', async (t) => {
  const { store, folder, from, send, fetched, list } = await world(t);
  const large = Buffer.alloc(2 * PIECE_BYTES + 5, 'large');
  writeFileSync(join(from, 'logs/large'), large);
  const first = await send();
  assert.equal(first.left, null);
  const backup = await fetched(first.place);
  assert.deepEqual(problemsOf(backup), []);
  const to = join(folder, 'again');
  restore(backup, to);
  assert.ok(readFileSync(join(to, 'logs/large')).equals(large));
  assert.equal(readFileSync(join(to, 'logs/0/2/out'), 'utf8'), 'hello\n');
  assert.equal(statSync(join(to, 'logs/0/3/empty')).size, 0);
  assert.equal(statSync(join(to, 'logs/0/1/out')).mode & 0o777, 0o640);
  assert.match(readFileSync(join(backup.folder, 'configuration/1-weft.yaml'), 'utf8'), /lab/);
  store.asked.length = 0;
  writeFileSync(join(from, 'logs/0/4'), 'new\n');
  const second = await send();
  const put = store.asked.filter((one) => one.startsWith('PUT')).length;
  // The file, the list of files, a store that may have changed, index and header.
  assert.ok(put <= 6, store.asked.join('\n'));
  assert.deepEqual(await list(), [first.place, second.place]);
  assert.deepEqual(problemsOf(await fetched(second.place)), []);
});

test('[U9] a backup that is cut off anywhere is none, and the next one is whole', async (t) => {
  const { store, from, send, fetched, list } = await world(t);
  const whole = await send();
  let cut = 0;
  for (let at = 1; at < 40; at += 3) {
    writeFileSync(join(from, 'logs/new'), `content ${at}\n`);
    store.asked.length = 0;
    // Refused from there on: nothing of it comes any more.
    store.before = () => {
      if (store.asked.length >= at) store.faults.push(403);
    };
    const isCut = await send().then(
      () => false,
      () => true,
    );
    if (isCut) cut += 1;
    store.before = () => undefined;
    store.faults.length = 0;
    for (const place of await list()) assert.deepEqual(problemsOf(await fetched(place)), []);
  }
  assert.ok(cut > 3, String(cut));
  assert.ok((await list()).includes(whole.place));
  const last = await send({ keep: 1 });
  assert.deepEqual(await list(), [last.place]);
  const pieces = [...store.objects.keys()].filter((key) => key.includes('/pieces/'));
  const left = [...store.objects.values()].filter((one) => one.toString().startsWith('content'));
  assert.equal(left.length, 1, pieces.join('\n'));
});

test('[U9] the oldest go with the pieces that nothing else has, and nothing of other heads', async (t) => {
  const { store, from, send, fetched, list } = await world(t);
  const other = 'weft/heads/0123456789abcdef/weft-20200101T000000.000Z.json';
  store.objects.set(other, Buffer.from('{}'));
  store.objects.set('weft/other', Buffer.from('mine'));
  writeFileSync(join(from, 'logs/old'), 'only in the first\n');
  const first = await send({ keep: 2 });
  const before = store.objects.size;
  truncateSync(join(from, 'logs/old'));
  const second = await send({ keep: 2 });
  const third = await send({ keep: 2 });
  assert.deepEqual(await list(), [second.place, third.place]);
  assert.ok(store.objects.has(other) && store.objects.has('weft/other'));
  assert.ok(![...store.objects.values()].some((one) => one.toString() === 'only in the first\n'));
  assert.ok(store.objects.size <= before + 6);
  for (const place of await list()) assert.deepEqual(problemsOf(await fetched(place)), []);
  await assert.rejects(fetched(first.place), /there is no backup/);
});

test('[U9] what is not as it was written is said, and nothing is put back', async (t) => {
  const { store, send, fetched } = await world(t);
  const { place, header } = await send();
  const [piece = ''] = [...store.objects].find(([, bytes]) => bytes.toString() === 'hello\n') ?? [];
  store.objects.set(piece, Buffer.from('hullo\n'));
  await assert.rejects(fetched(place), /differs from what was written; nothing was put back/);
  store.objects.set(piece, Buffer.alloc(PIECE_BYTES + 1));
  await assert.rejects(fetched(place), /more than/);
  store.objects.delete(piece);
  await assert.rejects(fetched(place), /is missing; nothing was put back/);
  await assert.rejects(fetched(PLACE), new RegExp(`name one of them: ${place}`));
  store.objects.set(`weft/heads/${header.head}/${place.split('/').at(-1)}.index`, Buffer.from('x'));
  await assert.rejects(fetched(place), /its index is none/);
});

test('[U9] a store that does not keep what it took is found out at once', async (t) => {
  const { store, send, list } = await world(t);
  store.before = (request) => {
    if (request.startsWith('GET') && request.endsWith('.json')) {
      const key = request.slice(4);
      if (store.objects.has(key)) store.objects.set(key, Buffer.from('lost'));
    }
  };
  await assert.rejects(send(), /is not there as it was written/);
  assert.deepEqual(await list(), []);
});

test('[U8] what passes is tried again, what does not is said with the code of the store', async (t) => {
  const { store, bucket, pauses } = await world(t);
  store.faults.push(503, 'cut');
  await bucket.put('a', Buffer.from('x'));
  assert.deepEqual(pauses, [1000, 4000]);
  const at = { bucket: 'lab', prefix: '' };
  const wrong = new Bucket(at, { ...store.keys, secret: 'wrong' });
  await assert.rejects(wrong.get('a', 1), /^Error: GET .*\/lab\/a: 403 SignatureDoesNotMatch/);
  const skewed = new Bucket(at, store.keys, { now: () => 0, pause: async () => undefined });
  await assert.rejects(skewed.get('a', 1), /RequestTimeTooSkewed/);
  const nowhere = new Bucket({ ...at, bucket: 'none' }, store.keys);
  await assert.rejects(nowhere.list(''), /NoSuchBucket/);
  await assert.rejects(nowhere.get('a', 1), /NoSuchBucket/);
  const closed = { ...store.keys, endpoint: 'http://127.0.0.1:1' };
  const silent = new Bucket(at, closed, { now: Date.now, pause: async () => undefined });
  await assert.rejects(silent.get('a', 1), /GET 127\.0\.0\.1:1\/lab\/a: /);
});

test('[U8] what a bucket refuses, or has damaged, is a failure in words with what to do', async (t) => {
  const { store, send, fetched } = await world(t);
  const { place, header } = await send();
  const failing = (code: string, words: RegExp, hint: RegExp) => (error: unknown) => {
    assert.ok(error instanceof Failure, String(error));
    assert.equal(error.code, code);
    assert.match(error.message, words);
    assert.match(error.hint ?? '', hint);
    return true;
  };
  const refused = failing('argument.invalid', /cannot be read: .* 403 InvalidAccessKeyId/, /keys/);
  await assert.rejects(fetched(place, { ...store.keys, id: 'nobody' }), refused);
  const closed = { ...store.keys, endpoint: 'http://127.0.0.1:1' };
  const silent = failing('argument.invalid', /cannot be read: GET 127\.0\.0\.1:1/, /reaches it/);
  await assert.rejects(fetched(place, closed), silent);
  await assert.rejects(fetched(PLACE, closed), silent);
  store.faults.push(503, 503, 503, 503);
  const busy = failing('argument.invalid', /cannot be read: .* 503 SlowDown/, /reaches it/);
  await assert.rejects(fetched(place), busy);
  // A header that speaks of another list than the one that came with it.
  const key = `weft/heads/${header.head}/${place.split('/').at(-1)}.json`;
  const wrong = { ...header, listSha256: '0'.repeat(64) };
  store.objects.set(key, Buffer.from(JSON.stringify(wrong)));
  const damaged = failing(
    'backup.damaged',
    /files\.jsonl is not its list .* nothing was put/,
    /.*/,
  );
  await assert.rejects(fetched(place), damaged);
});

test('[U9] a name that leads elsewhere is neither asked for nor removed', async (t) => {
  const { store, bucket, send } = await world(t);
  const { header } = await send();
  const own = `weft/heads/${header.head}`;
  const names = ['pieces/../../../other', 'pieces/x', 'weft-1.index', 'weft-../../other.index'];
  store.objects.set('weft/other', Buffer.from('mine'));
  for (const name of names) store.objects.set(`${own}/${name}`, Buffer.from('odd'));
  store.asked.length = 0;
  assert.equal((await send({ keep: 1 })).left, null);
  for (const name of names) assert.ok(store.objects.has(`${own}/${name}`), name);
  assert.ok(store.objects.has('weft/other'));
  store.asked.length = 0;
  for (const name of ['../x', 'a/./b', 'a?b', 'a#b', 'a%2fb', '%2e%2e/x', 'a\\b', 'a b']) {
    await assert.rejects(bucket.remove(name), /leads to another object/, name);
  }
  assert.deepEqual(store.asked, []);
});

test('[U9] what another head of this identity may be sending stays for a day', async (t) => {
  const { store, from, send, list } = await world(t);
  const { header } = await send();
  const own = `weft/heads/${header.head}`;
  // Pieces and an index, the header to come.
  const sent = [`${own}/pieces/${'a'.repeat(64)}`, `${own}/weft-20200101T000000.000Z.index`];
  const isThere = () => sent.map((key) => store.objects.has(key));
  const [, index = ''] = sent;
  for (const key of sent) store.objects.set(key, packIndex([]));
  for (const age of [0, DAY_MS / 2, null]) {
    store.age = age;
    writeFileSync(join(from, 'logs/new'), `at ${age}`);
    assert.equal((await send({ keep: 1 })).left, null);
    assert.deepEqual(isThere(), [true, true]);
  }
  store.age = 2 * DAY_MS;
  // Its header came: one of those that stay, with what its index names.
  const named = { path: 'head/x', bytes: 1, sha256: 'a'.repeat(64) };
  store.objects.set(index, packIndex([named]));
  store.objects.set(index.replace('.index', '.json'), Buffer.from(JSON.stringify(header)));
  assert.equal((await send({ keep: 9 })).left, null);
  assert.deepEqual(isThere(), [true, true]);
  const last = await send({ keep: 1 });
  assert.deepEqual([last.left, isThere(), await list()], [null, [false, false], [last.place]]);
});

test('[U8] a folder that has something in it is found out before anything is fetched', (t) => {
  const folder = makeFolder(t, { 'head/stamp.key': 'k' });
  assert.throws(() => checkFree(join(folder, 'head')), /head/);
  checkFree(join(folder, 'none'));
});

test('[U8] keys come from the environment or a file that nobody else reads, and go over no open line', (t) => {
  const environment = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const endpoint = 'https://s3.us-east-1.amazonaws.com';
  const own = { id: 'id', secret: 'secret', region: 'us-east-1', session: null, endpoint };
  assert.deepEqual(readBucketKeys(environment, null), own);
  assert.throws(() => readBucketKeys({}, null), /AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/);
  const at = (url: string) => readBucketKeys({ ...environment, AWS_ENDPOINT_URL: url }, null);
  assert.equal(at('https://minio.lab:9000/').endpoint, 'https://minio.lab:9000');
  for (const url of ['http://minio.lab:9000', 'https://x/y', 'https://a:b@x', 'ftp://x', 'x']) {
    assert.throws(() => at(url), /AWS_ENDPOINT_URL is not https/, url);
  }
  const folder = makeFolder(t, {
    keys: '# of the lab\nexport AWS_ACCESS_KEY_ID="other"\nAWS_REGION=lab-1\n',
  });
  const file = join(folder, 'keys');
  chmodSync(file, 0o644);
  assert.throws(() => readBucketKeys(environment, file), /others can read .*chmod 600/);
  chmodSync(file, 0o600);
  const read = readBucketKeys(environment, file);
  assert.deepEqual([read.id, read.secret, read.region], ['other', 'secret', 'lab-1']);
  assert.throws(() => readBucketKeys(environment, join(folder, 'none')), /cannot be read/);
});

test('[U8] a place in a bucket is one that leads nowhere else', () => {
  for (const place of ['/a', 's3://lab', 's3://lab/weft', 's3://my.lab-1/a/b_c/D.e']) {
    assert.ok(isPlace(place), place);
  }
  const wrong = ['', 'a', '/a\0', 's3://', 's3://L', 's3://lab/', 's3://lab/../x', 's3://lab/./x'];
  for (const place of [...wrong, 's3://lab//x', 's3://lab/x?y', 's3://lab/a b', 's3://u:p@lab']) {
    assert.ok(!isPlace(place), place);
  }
});
