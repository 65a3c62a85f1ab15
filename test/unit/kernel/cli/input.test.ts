// Standard input on its way to a job: when it goes there, in which pieces, and when it is refused.

import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { Input, InputKind } from '../../../../src/kernel/cli/jobs/input.ts';
import type { Submission } from '../../../../src/kernel/model/submission.ts';
import { type Answers, type Asked, FakeHead } from './fake-head.ts';
import { doneJob } from './views.ts';

const REPLY = { jobId: 42, taskCount: 1, directory: '/work', again: false };
const ALL = Buffer.from([0, 255, 10, 128, 7]);

function inputOf(kind: InputKind, bytes: Buffer = ALL): Input {
  const hasBytes = () => bytes.length > 0;
  return { kind, isReady: hasBytes, hasBytes, open: () => new PassThrough().end(bytes) };
}

interface Piece {
  readonly run: number;
  readonly offset: number;
  readonly data: string;
  readonly end: boolean;
  readonly wait?: boolean;
}

/** A head whose job is done once `isFed` says so of a piece. */
function feeding(answer: (piece: Piece) => object, isFed: (piece: Piece) => boolean): Answers {
  let done: () => void = () => undefined;
  const whenDone = new Promise<void>((resolve) => {
    done = resolve;
  });
  const ended = { json: { job: doneJob('completed', { code: 0 }), task: null } };
  return {
    'POST /v1/jobs': () => ({ json: REPLY }),
    'POST /v1/jobs/42/stdin': ({ body }) => {
      const piece = body as Piece;
      const json = answer(piece);
      if (isFed(piece)) done();
      return { json };
    },
    'POST /v1/jobs/42/cancel': () => {
      done();
      return { json: { count: 1 } };
    },
    'GET /v1/jobs/42/wait': () => ({ ...ended, after: whenDone }),
  };
}

/** Everything is read at once. */
function taken({ run, offset, data }: Piece): object {
  const size = Buffer.from(data, 'base64').length;
  return { run: Math.max(1, run), offset: offset + size, taken: true, done: false };
}

function piecesOf(head: FakeHead): Piece[] {
  const isPiece = ({ path }: Asked) => path === '/v1/jobs/42/stdin';
  return head.work.filter(isPiece).map(({ body }) => body as Piece);
}

function submittedFiles(head: FakeHead): Submission['files'] {
  const asked = head.work.find(({ path }) => path === '/v1/jobs');
  return (asked?.body as Submission | undefined)?.files;
}

test('what is piped goes to the job byte by byte, and its end too', async () => {
  await using head = await FakeHead.start(feeding(taken, ({ wait }) => wait === true));
  const said = await head.weftWith(inputOf('pipe'), 'run', '-w', 'wc');
  assert.deepEqual(said, { code: 0, out: '', error: '' });
  assert.deepEqual(submittedFiles(head), { stdin: '-' });
  const sent = piecesOf(head).filter(({ wait }) => wait !== true);
  assert.deepEqual(Buffer.concat(sent.map(({ data }) => Buffer.from(data, 'base64'))), ALL);
  assert.equal(sent.at(-1)?.end, true);
});

test('a job that is started again gets its input again from the beginning', async () => {
  const again = (piece: Piece) => {
    if (piece.run === 1 && piece.wait) return { run: 2, offset: 0, taken: false, done: false };
    return taken(piece);
  };
  const isFed = ({ run, wait }: Piece) => run === 2 && wait === true;
  await using head = await FakeHead.start(feeding(again, isFed));
  assert.equal((await head.weftWith(inputOf('file'), 'run', '-w', 'wc')).code, 0);
  const second = piecesOf(head).filter(({ run, wait }) => run === 2 && wait !== true);
  assert.deepEqual(Buffer.concat(second.map(({ data }) => Buffer.from(data, 'base64'))), ALL);
  assert.equal(second[0]?.offset, 0);
});

test('input that has been read and cannot be sent again cancels the job', async () => {
  let sent = 0;
  const restarts = (piece: Piece) => {
    sent += 1;
    return sent < 3 ? taken(piece) : { run: 2, offset: 0, taken: false, done: false };
  };
  await using head = await FakeHead.start(feeding(restarts, () => false));
  const large = inputOf('pipe', Buffer.alloc(3_000_000, 1));
  const { error } = await head.weftWith(large, 'run', '-w', 'wc');
  assert.match(error, /job 42 was started again: .* cannot be sent a second time.*cancelled/);
});

test('input that a job cannot have is refused, or said to stay here', async () => {
  const accepts = { 'POST /v1/jobs': () => ({ json: REPLY }) };
  await using head = await FakeHead.start(accepts);
  const weft = (input: Input, ...words: string[]) => head.weftWith(input, 'run', ...words, 'x');
  const array = await weft(inputOf('pipe'), '-w', '--array', '0-3');
  assert.deepEqual([array.code, head.work.length], [2, 0]);
  assert.match(array.error, /standard input goes to one process, and this job has more/);
  const plain = await weft(inputOf('file'));
  assert.deepEqual([plain.code, plain.out], [0, '42\n']);
  assert.match(plain.error, /not passed to the job without --follow or --wait; use --stdin FILE/);
  assert.match((await weft(inputOf('pipe'), '--stdin', '-')).error, /needs --follow or --wait/);
  const silent = [inputOf('terminal'), inputOf('nothing'), inputOf('pipe', Buffer.alloc(0))];
  for (const input of silent) assert.equal((await weft(input)).error, '', input.kind);
});

test('a job that is done is not asked for again when its head goes away', async () => {
  let asked: () => void = () => undefined;
  const whenAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const never = new Promise<void>(() => undefined);
  const ended = { json: { job: doneJob('completed', { code: 0 }), task: null } };
  const head = await FakeHead.start({
    'POST /v1/jobs': () => ({ json: REPLY }),
    'POST /v1/jobs/42/stdin': () => {
      asked();
      return { json: {}, after: never };
    },
    'GET /v1/jobs/42/wait': () => ({ ...ended, after: whenAsked }),
  });
  assert.equal((await head.weftWith(inputOf('pipe'), 'run', '-w', 'true')).code, 0);
  await head[Symbol.asyncDispose]();
  const isFree = () => !process.getActiveResourcesInfo().includes('Timeout');
  assert.ok(await isTrueWithin(2000, isFree), 'a timer waits for the head');
});

async function isTrueWithin(ms: number, isTrue: () => boolean): Promise<boolean> {
  const until = performance.now() + ms;
  while (!isTrue() && performance.now() < until) await new Promise(setImmediate);
  return isTrue();
}
