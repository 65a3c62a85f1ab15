// A program that has a pool open and no call, until a line on its standard input tells it to make
// one.

import { connect } from '../../../../../../src/library.ts';

const [socket = ''] = process.argv.slice(2);
const cluster = await connect({ socket, environment: {}, patience: '1m' });
const pool = await cluster.pool({ workers: 1 });
process.stdin.once('data', () => {
  process.stdin.destroy();
  const call = pool.submit((x: number) => x * x, 3);
  console.log('submitted');
  void call.then((value) => console.log(String(value)));
});
console.log('open');
