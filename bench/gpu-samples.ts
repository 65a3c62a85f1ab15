// What samples of gpus cost, against what was asked: an agent with 20 tasks and 8 cards, a head
// with 100 such nodes, a year of them on the disk, and how long their curves and the map of all
// take.
//   node bench/gpu-samples.ts [NODES]

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { NodeName } from '../src/kernel/model/ids.ts';
import type { Clock } from '../src/kernel/ports/clock.ts';
import { readCards } from '../src/wings/gpus/core/nvidia/csv.ts';
import { EMPTY, watchCards } from '../src/wings/gpus/core/watch.ts';
import { writeLooks } from '../src/wings/samples/core/said.ts';
import { LEVELS, Track } from '../src/wings/samples/core/track.ts';
import { gpuMap } from '../src/wings/samples/head/gpu-map.ts';
import { Samples } from '../src/wings/samples/head/samples.ts';
import type { Chunk } from '../src/wings/samples/model/chunk.ts';
import { LOOK_MS } from '../src/wings/samples/model/look.ts';
import { systemUse } from '../src/wings/samples/os/machine-use.ts';
import { sqliteShelf } from '../src/wings/samples/store/sqlite-shelf.ts';
import { TestHead } from '../test/support/controller.ts';
import { card } from '../test/support/nodes.ts';

const nodeCount = Number(process.argv[2] ?? 100);
const CARDS = 8;
const TASKS = 20;
const GIB = 2 ** 30;
const DAY_MS = 86_400_000;
const YEAR_MS = 365 * DAY_MS;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };
const NAMES = Array.from({ length: nodeCount }, (_, at) => `n${at + 1}` as NodeName);
const FLOWS = ['disk-read', 'disk-written', 'net-received', 'net-sent'];
const NUMBERS = Array.from({ length: CARDS }, (_, number) => number);

function report(figure: string, amount: number, asked: number): void {
  console.log(JSON.stringify({ figure, amount: Number(amount.toPrecision(3)), asked }));
}

function cpuMs(act: () => void): number {
  const begun = process.cpuUsage();
  act();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/**
 * The agent's own part, with as many processes of tasks: its pass over all processes, the tools'
 * answers, the message.
 */
function agentShare(): void {
  const tasks = Array.from({ length: TASKS }, (_, at) =>
    spawn('sleep', ['300'], { detached: true, env: { WEFT_LAUNCH: `bench:${at}` } }),
  );
  try {
    measureAgent();
  } finally {
    for (const task of tasks) task.kill('SIGKILL');
  }
}

function measureAgent(): void {
  const use = systemUse();
  const fields = ['index', 'uuid', 'pci.bus_id', 'name', 'memory.total', 'memory.used'];
  const rows = NUMBERS.map((at) => `${at}, GPU-${at}, 0000:0${at}:00.0, A100, 81920, ${at * 1000}`);
  const looks = 200;
  let machine = EMPTY;
  const spent = cpuMs(() => {
    for (let look = 0; look < looks; look += 1) {
      use.look();
      const cards = readCards(rows.join('\n'), fields).map((one) => one.card);
      const answer = {
        vendor: 'nvidia',
        driver: '580',
        cards,
        lost: [],
        processes: [],
        remark: null,
      };
      machine = watchCards(
        machine,
        {
          answers: [{ kind: 'answered', ...answer }],
          given: new Set(),
          holders: new Map(),
          owners: new Map(),
          isContained: false,
          now: { at: look * LOOK_MS, monotonic: look * LOOK_MS },
        },
        { outsideBytesMin: GIB, freeAfterMs: 60_000 },
      );
      JSON.stringify(message(0, look, []));
    }
  });
  report('gpu_samples_agent_core_percent', (spent / looks / LOOK_MS) * 100, 0.5);
}

function message(at: number, seed: number, epochs: readonly string[]): object {
  const next = dice(seed + 1);
  const gpus = NUMBERS.map((number) => {
    const busyPercent = Math.floor(next() * 100);
    const warm = { watts: 60 + busyPercent * 6, celsius: 30 + Math.floor(busyPercent / 2) };
    return { number, busyPercent, memoryBytes: Math.floor(next() * 80) * GIB, ...warm };
  });
  const tasks = epochs.map((epochId) => {
    const disk = { readBytes: 5_000_000, writtenBytes: 70_000 };
    return { epochId, cpuMilli: 900, memoryBytes: 4 * GIB, gpuMilli: 400, disk };
  });
  const rates = { readRate: Math.floor(next() * 1e8), writtenRate: Math.floor(next() * 1e7) };
  const flow = { ...rates, receivedRate: Math.floor(next() * 1e8), sentRate: 1000 };
  const node = { cpuMilli: Math.floor(next() * 64_000), memoryBytes: 100 * GIB, flow };
  return writeLooks([{ at, node, tasks, gpus }], at);
}

/** A head with all nodes and their tasks. */
function headWith(): { readonly head: TestHead; readonly epochs: readonly (readonly string[])[] } {
  const head = new TestHead();
  const cards = NUMBERS.map((number) => card(number));
  for (const name of NAMES) head.connect(name, { cpus: 64, gpus: CARDS, cards });
  for (let at = 0; at < nodeCount * TASKS; at += 1) head.submit({ cpuCount: 3 });
  head.schedule();
  const epochs = NAMES.map((name) => [...(head.state.nodes.get(name)?.holding.keys() ?? [])]);
  return { head, epochs };
}

function headShare(file: string): void {
  const { head, epochs } = headWith();
  const clock = { at: YEAR_MS, now: () => clock.at, monotonic: () => clock.at };
  const samples = new Samples(sqliteShelf(file), clock as unknown as Clock, LOG);
  const looks = 60;
  const spent = cpuMs(() => {
    for (let look = 0; look < looks; look += 1) {
      clock.at += LOOK_MS;
      NAMES.forEach((name, at) => {
        samples.hear(head.state, name, message(clock.at, look * nodeCount + at, epochs[at] ?? []));
      });
      samples.tick(head.state);
    }
  });
  report('gpu_samples_head_core_percent', (spent / looks / LOOK_MS) * 100, 2);
}

/** A year of one figure, as far as it is kept. */
function yearOf(seed: number, most: number, { hasPeaks = true } = {}): readonly Chunk[] {
  const next = dice(seed);
  const track = new Track({ hasPeaks });
  const kept = new Map<string, Chunk>();
  let level = 0;
  for (let at = 0; at < YEAR_MS; at += LOOK_MS) {
    if (next() < 0.01) level = next() < 0.4 ? 0 : next() * most;
    for (const chunk of track.add(at, Math.round(level * (0.9 + next() * 0.1)), () => null))
      kept.set(`${chunk.line} ${chunk.start}`, chunk);
  }
  const all = [...kept.values(), ...track.grown()];
  return all.filter(({ line, start }) => {
    const of = LEVELS.find(({ mean, peak }) => line === mean || line === peak);
    return of !== undefined && (start + of.steps) * of.stepMs >= YEAR_MS - of.keepMs;
  });
}

/** The same year for every node: what it costs does not depend on whose it is. */
function year(file: string): void {
  const shelf = sqliteShelf(file);
  const busy = NUMBERS.map((number) => yearOf(number + 1, 100));
  const held = NUMBERS.map((number) => yearOf(number + 91, 80 * GIB));
  const steady = { hasPeaks: false };
  const watts = NUMBERS.map((number) => yearOf(number + 301, 700, steady));
  const celsius = NUMBERS.map((number) => yearOf(number + 401, 90, steady));
  const slowed = yearOf(501, 0, steady);
  const [cpu, memory] = [yearOf(201, 64_000), yearOf(202, 512 * GIB)];
  const flows = FLOWS.map((figure, at) => [figure, yearOf(601 + at, 1e9)] as const);
  for (const name of NAMES) {
    const put = (figure: string, chunks: readonly Chunk[]): void => {
      shelf.put(
        chunks.map((chunk) => ({ series: `${name}/${figure}`, ...chunk })),
        [],
      );
    };
    put('cpu', cpu);
    put('memory', memory);
    for (const [figure, chunks] of flows) put(figure, chunks);
    for (const number of NUMBERS) {
      put(`gpu${number}`, busy[number] ?? []);
      put(`gpu${number}-memory`, held[number] ?? []);
      put(`gpu${number}-watts`, watts[number] ?? []);
      put(`gpu${number}-celsius`, celsius[number] ?? []);
      put(`gpu${number}-slowed`, slowed);
    }
  }
  shelf.close();
  report('gpu_samples_year_gb', statSync(file).size / 1e9, 2);
}

async function answers(file: string): Promise<void> {
  const { head } = headWith();
  const clock = { now: () => YEAR_MS, monotonic: () => YEAR_MS };
  const samples = new Samples(sqliteShelf(file), clock as unknown as Clock, LOG);
  const worst = async (figure: string, act: () => unknown): Promise<void> => {
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      const begun = process.cpuUsage();
      JSON.stringify(await act());
      const { user, system } = process.cpuUsage(begun);
      times.push((user + system) / 1000);
    }
    report(figure, Math.max(...times), 200);
  };
  // Of a node that tells: the head asks its tracks which cards there are.
  samples.hear(head.state, NAMES[0] as NodeName, message(YEAR_MS, 1, []));
  for (const [word, ms] of [
    ['hour', DAY_MS / 24],
    ['day', DAY_MS],
    ['month', 30 * DAY_MS],
    ['year', YEAR_MS],
  ] as const) {
    const from = YEAR_MS - ms;
    await worst(`gpu_curves_of_node_${word}_cpu_ms`, () =>
      samples.nodeCurves(NAMES[0] as NodeName, from),
    );
  }
  const services = { engine: head, samples, clock } as unknown as Parameters<typeof gpuMap>[0];
  for (const [word, ms] of [
    ['hour', DAY_MS / 24],
    ['day', DAY_MS],
    ['week', 7 * DAY_MS],
  ] as const) {
    const call = { query: { from: YEAR_MS - ms, figure: 'busy' } };
    await worst(`gpu_map_${word}_cpu_ms`, () =>
      gpuMap(services, call as Parameters<typeof gpuMap>[1]),
    );
  }
}

const directory = mkdtempSync(path.join(tmpdir(), 'weft-gpu-samples-'));
try {
  agentShare();
  headShare(path.join(directory, 'head.db'));
  const file = path.join(directory, 'year.db');
  year(file);
  await answers(file);
} finally {
  rmSync(directory, { recursive: true, force: true });
}
