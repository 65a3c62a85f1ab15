// The paper's Table 2 for this program: getNodes, getJobs and startJob at 16 nodes and 100 jobs,
// each by the system's own command alone and through the layer, by turns; and submissions, which
// the paper has not.
//
//   node bench/table2.ts RUNS

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemCommands } from '../src/kernel/os/commands.ts';
import type { Commands } from '../src/kernel/ports/commands.ts';
import type {
  SiteCommand,
  SiteQuery,
  SiteSubmission,
} from '../src/wings/sites/adaptors/adaptor.ts';
import { runSiteCommand } from '../src/wings/sites/fabric/site/command.ts';
import { Steerer } from '../src/wings/sites/fabric/site/steerer.ts';
import { figure } from './cluster.ts';
import { quietLog } from './support.ts';
import {
  JOBS,
  NODES,
  scriptWays,
  slurmWays,
  type Way,
  type Ways,
  weftWays,
} from './table2/ways.ts';

const RUNS = Number(process.argv[2] ?? 30);
const SETTINGS = { before: [], timeoutMs: 60_000, user: null };

/** Time of commands alone, within what the layer takes. */
class Watched implements Commands {
  inside = 0;

  async run(command: Parameters<Commands['run']>[0]) {
    const began = performance.now();
    const end = await systemCommands.run(command);
    this.inside += performance.now() - began;
    return end;
  }
}

interface Taken {
  readonly native: number[];
  readonly layer: number[];
  /** The layer without the commands: words made, answers read. */
  readonly own: number[];
}

/** One command as a shell would run it, its output read and thrown away. */
async function natively({ argv, input, environment }: SiteCommand, way: Way): Promise<void> {
  const [file = '', ...args] = argv;
  const env = { ...process.env, ...way.environment, ...environment };
  // In a session of its own, as the layer's: on a busy Linux each session has its own share of the
  // cpus.
  const child = spawn(file, args, { env, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
  child.stdin.on('error', () => undefined).end(input ?? '');
  child.stdout.resume();
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`);
}

async function measure(
  runs: number,
  native: (at: number) => Promise<unknown>,
  layer: (at: number, commands: Watched) => Promise<unknown>,
): Promise<Taken> {
  const taken: Taken = { native: [], layer: [], own: [] };
  const alone = async (at: number): Promise<void> => {
    const began = performance.now();
    await native(at);
    taken.native.push(performance.now() - began);
  };
  const layered = async (at: number): Promise<void> => {
    const commands = new Watched();
    const began = performance.now();
    await layer(at, commands);
    const took = performance.now() - began;
    taken.layer.push(took);
    taken.own.push(took - commands.inside);
  };
  for (let at = 0; at < 2 * runs; at += 2) {
    // Each is as often the first: a controller is still busy with what came before.
    for (const one of at % 4 === 0 ? [alone, layered] : [layered, alone]) {
      await one(one === alone ? at : at + 1);
    }
  }
  return taken;
}

async function through<T>(query: SiteQuery<T>, way: Way, commands: Commands): Promise<T> {
  const environment = { ...way.environment, ...query.command.environment };
  const command = { ...query.command, environment };
  const read = query.read(await runSiteCommand(commands, command, SETTINGS));
  if (!read.ok) throw new Error(`${way.name}: ${read.error.text}`);
  return read.value;
}

function tell(way: Way, operation: string, { native, layer, own }: Taken): void {
  const middle = (values: number[]): number =>
    [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
  figure(`${way.name}: ${operation}, native`, 'ms', native);
  const ratio = Number((middle(layer) / middle(native)).toFixed(3));
  figure(`${way.name}: ${operation}, through the layer`, 'ms', layer, { ratio });
  figure(`${way.name}: ${operation}, the layer's own share`, 'ms', own);
}

async function listings(way: Way): Promise<void> {
  const { nodes, jobs } = way.adaptor;
  for (const [operation, query, expected] of [
    ['getNodes', nodes, NODES],
    ['getJobs', jobs, JOBS],
  ] as const) {
    const taken = await measure(
      RUNS,
      () => natively(query.command, way),
      async (_, commands) => {
        const all = await through<readonly unknown[]>(query, way, commands);
        if (all.length !== expected) throw new Error(`${way.name}: ${all.length} at ${operation}`);
      },
    );
    tell(way, operation, taken);
  }
}

async function starts(way: Way): Promise<void> {
  const { steering } = way.adaptor;
  if (steering === null || way.startable.length === 0) return;
  const job = (at: number) => ({ id: way.startable[at] ?? '', handle: null });
  const taken = await measure(
    Math.min(RUNS, way.startable.length >> 1),
    async (at) => {
      for (const command of steering.start(job(at), [way.node(at)])) await natively(command, way);
    },
    async (at, commands) => {
      const given: Commands = {
        run: (one) =>
          commands.run({ ...one, environment: { ...way.environment, ...one.environment } }),
      };
      const world = { steering, commands: given, log: quietLog, settings: SETTINGS };
      const started = await new Steerer(world).start(job(at), [way.node(at)]);
      if (!started.ok) throw new Error(`${way.name}: ${started.error.text}`);
    },
  );
  tell(way, 'startJob', taken);
}

/** There is no command for it that would stand beside it. */
async function doorStarts({ name, door }: Way): Promise<void> {
  if (door === undefined) return;
  door.open();
  const took: number[] = [];
  for (let at = 0; at < Math.min(RUNS, JOBS); at += 1) {
    const began = performance.now();
    await door.start(at);
    took.push(performance.now() - began);
  }
  figure(`${name}: startJob by its door for schedulers`, 'ms', took);
}

async function submissions(way: Way, folder: string): Promise<void> {
  const submission = (at: number): SiteSubmission => ({
    name: `table2-${process.pid}-${at}`,
    script: '#!/bin/sh\nexit 0\n',
    queue: null,
    scriptFile: join(folder, 'script'),
    account: null,
    walltimeMs: null,
    nodeCount: 1,
    cpuCount: 1,
    memoryBytes: null,
    directory: folder,
    options: [],
    stdout: join(folder, 'out'),
    stderr: join(folder, 'err'),
  });
  const taken = await measure(
    RUNS,
    (at) => natively(way.adaptor.submit(submission(at)).command, way),
    (at, commands) => through(way.adaptor.submit(submission(at)), way, commands),
  );
  tell(way, 'submit', taken);
}

async function all({ about, ways, stop }: Ways): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'weft-table2-jobs-'));
  try {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'script'), '#!/bin/sh\nexit 0\n');
    console.log(JSON.stringify({ about, load: loadavg().map((one) => Number(one.toFixed(1))) }));
    // Listings first: starts and submissions change how many there are.
    for (const way of ways) await listings(way);
    for (const way of ways) await starts(way);
    for (const way of ways) await doorStarts(way);
    for (const way of ways) await submissions(way, folder);
  } finally {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const slurms = await slurmWays();
if (slurms === null) console.log('no slurmrestd here, or not root: Slurm is left out');
else await all(slurms);
await all(scriptWays());
await all(await weftWays());
