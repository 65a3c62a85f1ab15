// What samples cost: a look at this machine, the message of it, a sample at the head, and a day of
// a node on the disk.
//   node bench/samples.ts [NODES]

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from '../src/kernel/wire/codec.ts';
import { writeLooks } from '../src/wings/samples/core/said.ts';
import { Track } from '../src/wings/samples/core/track.ts';
import type { SeriesChunk } from '../src/wings/samples/model/chunk.ts';
import { LOOK_MS, type Look } from '../src/wings/samples/model/look.ts';
import { systemUse } from '../src/wings/samples/os/machine-use.ts';
import { sqliteShelf } from '../src/wings/samples/store/sqlite-shelf.ts';

const LOOKS_PER_DAY = 86_400_000 / LOOK_MS;
const nodeCount = Number(process.argv[2] ?? 50);

function report(figure: string, amount: number): void {
  console.log(JSON.stringify({ figure, amount: Number(amount.toPrecision(3)) }));
}

function cpuMs(act: () => void): number {
  const begun = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

function lookCost(): void {
  const use = systemUse();
  use.look();
  const looks = 200;
  const each =
    cpuMs(() => {
      for (let look = 0; look < looks; look += 1) use.look();
    }) / looks;
  report('samples_look_cpu_ms', each);
  report('samples_agent_cpu_share_percent', (each / LOOK_MS) * 100);
}

function messageBytes(taskCount: number): number {
  const tasks = Array.from({ length: taskCount }, (_, at) => {
    return {
      epochId: `${1000 + at}#1`,
      cpuMilli: 900 + at,
      memoryBytes: 2 ** 30 + at * 4096,
      gpuMilli: null,
    };
  });
  const look: Look = { at: 0, node: { cpuMilli: 3999, memoryBytes: 2 ** 33 }, tasks, gpus: [] };
  const message = { kind: 'wing', wing: 'samples', body: writeLooks([look], 5) };
  return encode(message).length;
}

/** A day of nodes whose tasks come and go. */
function day(directory: string): void {
  const file = join(directory, 'samples.db');
  const shelf = sqliteShelf(file);
  let seed = 11;
  const dice = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
  const spent = cpuMs(() => {
    for (let node = 0; node < nodeCount; node += 1) {
      const tracks = { cpu: new Track(), memory: new Track() };
      let [busy, held] = [1000, 2 ** 32];
      const chunks: SeriesChunk[] = [];
      for (let look = 0; look < LOOKS_PER_DAY; look += 1) {
        if (dice() < 0.01) [busy, held] = [dice() * 64_000, dice() * 2 ** 37];
        const amounts = { cpu: busy * (0.9 + dice() * 0.2), memory: held * (0.99 + dice() * 0.02) };
        for (const figure of ['cpu', 'memory'] as const) {
          const done = tracks[figure].add(look * LOOK_MS, amounts[figure], () => null);
          for (const chunk of done) chunks.push({ series: `n${node}/${figure}`, ...chunk });
        }
      }
      shelf.put(chunks, []);
    }
  });
  shelf.close();
  const samples = nodeCount * LOOKS_PER_DAY * 2;
  report('samples_head_cpu_us_per_sample', (spent * 1000) / samples);
  report('samples_disk_bytes_per_sample', statSync(file).size / samples);
}

lookCost();
for (const tasks of [0, 4, 64]) report(`samples_message_bytes_${tasks}_tasks`, messageBytes(tasks));
const directory = mkdtempSync(join(tmpdir(), 'weft-samples-'));
day(directory);
rmSync(directory, { recursive: true, force: true });
