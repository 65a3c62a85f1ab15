// The seed of all examples: squares of numbers, one call for each. `square.ts [COUNT]`

import { connect } from 'weft';

const count = Number(process.argv[2] ?? 1000);
const square = (x: number): number => x * x;

const cluster = await connect();
const pool = await cluster.pool({ workers: { min: 0, max: 4 }, memory: '128M' });
let sum = 0;
for await (const value of pool.map(
  square,
  Array.from({ length: count }, (_, x) => x),
))
  sum += value;
console.log(`the sum of the first ${count} squares is ${sum}`);
await pool.close();
cluster.close();
