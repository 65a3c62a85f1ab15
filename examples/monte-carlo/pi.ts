// Pi by chance, and no longer than needed: batches of points are thrown on the workers until the
// estimate is good enough; what is under way then is cancelled. `pi.ts [ERROR]`

import { connect } from 'weft';

const wanted = Number(process.argv[2] ?? 0.001);
const POINTS = 1_000_000;

/** How many of so many points fall into the circle: a generator of its own for each seed. */
function hits(seed: number): number {
  let state = seed;
  const random = (): number => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  let inside = 0;
  for (let at = 0; at < POINTS; at += 1) if (random() ** 2 + random() ** 2 < 1) inside += 1;
  return inside;
}

/** Seeds without end: the loop below says when it is enough. */
function* seeds(): Generator<number> {
  for (let seed = 1; ; seed += 1) yield seed;
}

const cluster = await connect();
const pool = await cluster.pool({ workers: { min: 0, max: 4 }, memory: '128M' });
let inside = 0;
let thrown = 0;
for await (const found of pool.map(hits, seeds(), { inFlight: 16, ordered: false, retries: 1 })) {
  inside += found;
  thrown += POINTS;
  const share = inside / thrown;
  const error = 4 * Math.sqrt((share * (1 - share)) / thrown);
  if (error < wanted) break;
}
const estimate = (4 * inside) / thrown;
console.log(`pi is ${estimate.toFixed(4)}, from ${thrown / POINTS} million points`);
await pool.close();
cluster.close();
