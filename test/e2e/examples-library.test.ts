// The examples that are programs, as their README tells it: on a cluster of this machine, by the
// name of the package.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { decode, encode } from '../../examples/thumbnails/png.ts';
import { LocalCluster, repository, runProgram } from './support/local-cluster.ts';

const LIMIT = { timeout: 300_000 };

describe('the examples that are programs', { timeout: 900_000 }, () => {
  let cluster: LocalCluster;
  before(async () => {
    cluster = await LocalCluster.start('--nodes', '2');
    cpSync(path.join(repository, 'examples'), path.join(cluster.work, 'examples'), {
      recursive: true,
    });
  });
  after(() => cluster?.close());

  async function run(example: string, ...args: string[]): Promise<string[]> {
    const file = path.join(cluster.work, 'examples', example);
    const library = pathToFileURL(path.join(repository, 'src', 'library.ts')).href;
    const text = readFileSync(file, 'utf8');
    assert.ok(text.includes("from 'weft'"));
    writeFileSync(file, text.replace("from 'weft'", `from '${library}'`));
    const ran = await runProgram([process.execPath, file, ...args], {
      cwd: cluster.work,
      env: cluster.env,
      timeoutMs: 240_000,
    });
    assert.equal(ran.code, 0, ran.error);
    return ran.out.trim().split('\n');
  }

  test('squares are summed on workers', LIMIT, async () => {
    const said = await run('square/square.ts', '500');
    assert.deepEqual(said, ['the sum of the first 500 squares is 41541750']);
  });

  test('pi is thrown until it is good enough, and no longer', LIMIT, async () => {
    const [said = ''] = await run('monte-carlo/pi.ts', '0.001');
    const [, pi, points] = /^pi is ([\d.]+), from (\d+) million points$/.exec(said) ?? [];
    assert.ok(Math.abs(Number(pi) - Math.PI) < 0.005, said);
    // The error falls with the square root of the points: 2.7 million of them are needed.
    assert.ok(Number(points) >= 2 && Number(points) <= 4, said);
  });

  test(
    'thumbnails are small pictures of the large ones; what is no picture is told',
    LIMIT,
    async () => {
      const folder = path.join(cluster.work, 'pictures');
      mkdirSync(folder);
      // Colours grow to the right and downwards, so that each place is known by its colour.
      const drawn = (width: number, height: number, channels: number): Buffer => {
        const pixels = new Uint8Array(width * height * channels).map((_, at) => {
          const x = Math.floor(at / channels) % width;
          const y = Math.floor(at / channels / width);
          return [(255 * x) / width, (255 * y) / height, 7, 255][at % channels] ?? 0;
        });
        return encode({ width, height, channels, pixels });
      };
      writeFileSync(path.join(folder, 'a.png'), drawn(400, 300, 3));
      writeFileSync(path.join(folder, 'b.png'), drawn(100, 500, 4));
      writeFileSync(path.join(folder, 'c.png'), 'no picture');
      writeFileSync(path.join(folder, 'd.png'), drawn(30, 20, 3));
      const said = await run('thumbnails/thumbnails.ts', folder, 'small');
      assert.match(said.join('\n'), /^a\.png: 400 x 300, now \d+ bytes\nb\.png: 100 x 500, /);
      assert.match(said[2] ?? '', /^c\.png: thumbnail threw Error: not a PNG$/);
      assert.equal(said.at(-1), '3 of 4 pictures');
      for (const [name, width, height] of [
        ['a.png', 96, 72],
        ['b.png', 19, 96],
        ['d.png', 30, 20],
      ] as const) {
        const small = decode(readFileSync(path.join(cluster.work, 'small', name)));
        assert.deepEqual([small.width, small.height], [width, height]);
        const middle = ((height >> 1) * width + (width >> 1)) * small.channels;
        for (const colour of small.pixels.subarray(middle, middle + 2)) {
          assert.ok(Math.abs(colour - 127) < 10, `${name}: ${colour} in the middle`);
        }
      }
      assert.deepEqual(readByPython(path.join(cluster.work, 'small', 'a.png')), [96, 72, 72 * 289]);
    },
  );

  test('a sweep over a solver gives what runs by hand give', LIMIT, async () => {
    const said = await run('sweep/sweep.ts', '0.05');
    const heat = path.join(cluster.directory, 'heat');
    const source = path.join(repository, 'examples', 'batch', 'heat.c');
    execFileSync('cc', ['-O2', '-o', heat, source]);
    const byHand = ['0.5', '1', '2', '4', '8'].map((alpha) => {
      const profile = execFileSync(heat, [alpha, '64', '0.05'], { encoding: 'utf8' });
      const middle = Number(profile.trim().split('\n')[4]?.split(',')[1]);
      return { alpha, middle };
    });
    const enough = byHand.find(({ middle }) => middle >= 1 / 3);
    assert.deepEqual(said, [
      ...byHand.map(({ alpha, middle }) => `${alpha}: ${middle.toFixed(3)}`),
      `${enough?.alpha} is enough`,
    ]);
  });
});

/** Width, height and bytes of all lines, by somebody else's reader of what a PNG is made of. */
function readByPython(file: string): number[] {
  const program = `
import struct, sys, zlib
data = open(sys.argv[1], 'rb').read()
at, parts, size = 8, b'', None
while at < len(data):
    length, kind = struct.unpack('>I4s', data[at:at + 8])
    body = data[at + 8:at + 8 + length]
    assert zlib.crc32(kind + body) == struct.unpack('>I', data[at + 8 + length:at + 12 + length])[0]
    if kind == b'IHDR': size = struct.unpack('>II', body[:8])
    if kind == b'IDAT': parts += body
    at += length + 12
print(*size, len(zlib.decompress(parts)))
`;
  const said = execFileSync('python3', ['-c', program, file], { encoding: 'utf8' });
  return said.trim().split(' ').map(Number);
}
