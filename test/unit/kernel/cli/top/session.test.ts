// `weft top` and `--watch` at a terminal, against a head with prepared answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answers, type Asked, FakeHead, refusal } from '../fake-head.ts';
import { FakeScreen } from '../fake-screen.ts';
import { jobView, nodeView } from '../views.ts';
import { infoView } from './info-view.ts';

function answers(more: Answers = {}): Answers {
  return {
    'GET /v1/info': () => ({ json: infoView() }),
    'GET /v1/nodes': () => ({ json: { nodes: [nodeView()] } }),
    'GET /v1/jobs': () => ({
      json: { jobs: [jobView({ id: 2 }), jobView({ id: 1 })], next: null },
    }),
    ...more,
  };
}

test('a job is chosen and held, and the command that does the same is shown', async () => {
  const held = { 'POST /v1/jobs/1/hold': () => ({ json: { count: 1 } }) };
  await using head = await FakeHead.start(answers(held));
  const screen = new FakeScreen();
  const said = head.weftOnScreen(screen, 'top');
  await screen.shows(/^> +2 +hello/m);
  screen.type('\u001b[Bh');
  await screen.shows(/Job 1: 1 task held \(weft hold 1\)/);
  screen.type('q');
  assert.deepEqual(await said, { code: 0, out: '', error: '' });
  assert.equal(screen.isOpen, false);
});

test('jobs are sorted by the head, by priority or the newest first, as the line of tabs says', async () => {
  const byPriority = [jobView({ id: 1 }), jobView({ id: 2 })];
  const jobs = ({ query }: Asked) => {
    const all = query['sort'] === 'priority' ? byPriority : byPriority.toReversed();
    return { json: { jobs: all, next: null } };
  };
  await using head = await FakeHead.start(answers({ 'GET /v1/jobs': jobs }));
  const screen = new FakeScreen();
  const said = head.weftOnScreen(screen, 'top');
  assert.doesNotMatch(await screen.shows(/^> +2 +hello/m), /by priority/);
  screen.type('s');
  assert.match(await screen.shows(/^> +1 +hello.*\n +2 +hello/m), /\[jobs\] .* {2}by priority/);
  screen.type('s');
  assert.doesNotMatch(await screen.shows(/^> +2 +hello.*\n +1 +hello/m), /by priority/);
  screen.type('q');
  assert.equal((await said).code, 0);
});

test('a refusal is told, and the picture goes on', async () => {
  const no = refusal('job.not_yours', 'denied', 'Job 2 is of alice.');
  const denied = { 'POST /v1/jobs/2/cancel': () => ({ status: 403, json: no }) };
  await using head = await FakeHead.start(answers(denied));
  const screen = new FakeScreen();
  const said = head.weftOnScreen(screen, 'top');
  await screen.shows(/^> +2 +hello/m);
  screen.type('c');
  await screen.shows(/cancel job 2\? y: yes/);
  screen.type('y');
  await screen.shows(/Job 2 is of alice\./);
  screen.resize(40, 10);
  assert.equal(screen.picture.length, 10);
  screen.type('\u0003');
  assert.equal((await said).code, 0);
});

test('a head that goes away is told and asked again; what was known stays', async () => {
  let isAway = false;
  const away = { status: 503, json: refusal('head.stopping', 'unavailable', 'The head stops.') };
  const info = () => (isAway ? away : { json: infoView() });
  await using head = await FakeHead.start(answers({ 'GET /v1/info': info }));
  const screen = new FakeScreen();
  const said = head.weftOnScreen(screen, 'top', '-n', '0.1s');
  await screen.shows(/^Nodes: 1 up/m);
  isAway = true;
  assert.match(await screen.shows(/^Not up to date: The head stops\./m), /^> +2 +hello/m);
  screen.resize(20, 12);
  assert.match(screen.picture.join('\n'), /^Not up to date: The\n {2}head stops\.$/m);
  screen.resize(80, 24);
  isAway = false;
  await screen.shows(/^Nodes: 1 up/m);
  screen.hangUp();
  assert.equal((await said).code, 0);
});

test('Ctrl-Z gives the terminal back, and takes it again', async () => {
  await using head = await FakeHead.start(answers());
  const screen = new FakeScreen();
  const said = head.weftOnScreen(screen, 'top');
  await screen.shows(/^> +2/m);
  screen.type('\u001a');
  assert.deepEqual([screen.isOpen, screen.openCount], [true, 2]);
  screen.type('q');
  await said;
});

test('without a terminal one picture is printed', async () => {
  await using head = await FakeHead.start(answers());
  const { code, out } = await head.weft('top', '--filter', 'alice');
  assert.equal(code, 0);
  assert.match(out, /^Cluster lab, head up 1m.*\n.*\nNodes: 1 up {2}Jobs: 1 running\n\n *JOB/);
  assert.match(out, /No nodes match 'alice'/);
  const short = await head.weft('top', '-n', '10ms');
  assert.deepEqual([short.code, short.out], [2, '']);
  assert.match(short.error, /--interval: 10ms is too short; write 0\.1s or more/);
});

test('--watch shows a listing again, and its last exit code is that of the command', async () => {
  let id = 0;
  const jobs = () => {
    id += 1;
    return { json: { jobs: [jobView({ id })], next: null } };
  };
  await using head = await FakeHead.start(answers({ 'GET /v1/jobs': jobs }));
  const screen = new FakeScreen();
  const said = head.weftOnScreen(screen, 'jobs', '--watch=0.1s');
  await screen.shows(/^weft jobs --watch=0\.1s .*q quits\n\nJOB.*\n +3 /);
  screen.type('q');
  assert.deepEqual(await said, { code: 0, out: '', error: '' });
  const wrong = await head.weft('jobs', '--watch', 'often');
  assert.deepEqual([wrong.code, wrong.out], [2, '']);
  assert.match(wrong.error, /--watch: 'often' is not a duration/);
});

test('--watch: a remark stands above the listing, and in a pipe once', async () => {
  const jobs = () => ({ json: { jobs: [jobView({ id: 7 })], next: 6 } });
  const gone = { status: 401, json: refusal('auth.token_invalid', 'unauthenticated', 'Gone.') };
  let looks = 0;
  const answer = () => {
    looks += 1;
    return looks > 3 ? gone : jobs();
  };
  await using head = await FakeHead.start(answers({ 'GET /v1/jobs': answer }));
  const screen = new FakeScreen();
  const argv = ['jobs', '--limit', '1', '--watch=0.1s'];
  const said = head.weftOnScreen(screen, ...argv);
  await screen.shows(
    /^weft jobs --limit 1 --watch=0\.1s .*\nweft: only 1 job shown.*\n(.+\n)*\nJOB/,
  );
  screen.type('q');
  assert.deepEqual(await said, { code: 0, out: '', error: '' });
  looks = 0;
  const { error } = await head.weft(...argv);
  assert.equal(error, 'weft: only 1 job shown; raise --limit\nGone.\nweft: Gone.\n');
});

test('--watch: the first failure ends it, later ones are shown', async () => {
  let isAway = true;
  const away = { status: 503, json: refusal('head.stopping', 'unavailable', 'The head stops.') };
  const nodes = () => (isAway ? away : { json: { nodes: [nodeView()] } });
  await using head = await FakeHead.start(answers({ 'GET /v1/nodes': nodes }));
  const screen = new FakeScreen();
  const first = await head.weftOnScreen(screen, 'node', 'list', '--watch=0.1s');
  assert.equal(first.error, 'weft: The head stops.\n');
  isAway = false;
  const said = head.weftOnScreen(screen, 'node', 'list', '--watch=0.1s');
  await screen.shows(/^n1 /m);
  isAway = true;
  assert.match(await screen.shows(/The head stops\./), /^n1 /m);
  screen.type('q');
  assert.equal((await said).code, 0);
});
