// Submits a job that is held, and asks who it is, in turn, with heartbeats beside it, until its
// input ends; prints how long the answers took. `flood-asker.ts SOCKET MS_BETWEEN`

import { setTimeout as sleep } from 'node:timers/promises';
import { connectLocally } from '../test/support/local-client.ts';
import { beat } from './flood-beats.ts';

const [socketPath = '', between = '50'] = process.argv.slice(2);
const client = await connectLocally(socketPath);
const submitted: number[] = [];
const answered: number[] = [];
let isOver = false;
process.stdin.resume().once('end', () => {
  isOver = true;
});

async function timed(into: number[], act: () => Promise<unknown>): Promise<void> {
  const from = performance.now();
  await act();
  into.push(performance.now() - from);
}

const job = {
  program: { kind: 'argv', argv: ['/bin/true'] },
  directory: { kind: 'shared', path: '/' },
  held: true,
};
const heard = await beat(client.call, socketPath, Number(between));
while (!isOver) {
  await timed(submitted, () => client.call('POST', '/v1/jobs', job));
  await timed(answered, () => client.call('GET', '/v1/whoami'));
  await sleep(Number(between));
}
const beats = heard();
client.close();

function show(took: number[]): string {
  took.sort((a, b) => a - b);
  const at = (share: number) => (took[Math.floor(took.length * share)] ?? 0).toFixed(1);
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)} ms (${took.length})`;
}

const requests = `submissions ${show(submitted)}; small requests ${show(answered)}`;
console.log(`${requests}; heartbeats ${show(beats)}`);
