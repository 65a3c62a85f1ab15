// Thumbnails of all PNG files of a folder. The folder goes with the pool, to a directory of each
// worker; the small pictures come back as results. `thumbnails.ts FOLDER [INTO]`

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { connect } from 'weft';
import { decode, encode, shrink } from './png.ts';

const SIDE = 96;
const [folder = '.', into = path.join(folder, 'thumbnails')] = process.argv.slice(2);
const names = readdirSync(folder).filter((name) => name.endsWith('.png'));
mkdirSync(into, { recursive: true });

await using cluster = await connect();
await using pool = await cluster.pool({
  workers: { max: 4 },
  memory: '256M',
  in: `${folder}=pictures`,
});

/** Runs on a worker, in the directory that its files came to. */
function thumbnail(name: string) {
  const picture = decode(readFileSync(path.join('pictures', name)));
  const { width, height } = picture;
  return { width, height, png: encode(shrink(picture, SIDE)) };
}

let failed = 0;
for await (const outcome of pool.mapSettled(thumbnail, names, { retries: 1, timeout: '1m' })) {
  const name = names[outcome.index] ?? '';
  if (outcome.ok) {
    const { width, height, png } = outcome.value;
    writeFileSync(path.join(into, name), png);
    console.log(`${name}: ${width} x ${height}, now ${png.length} bytes`);
  } else {
    failed += 1;
    console.log(`${name}: ${(outcome.error as Error).message}`);
  }
}
console.log(`${names.length - failed} of ${names.length} pictures`);
