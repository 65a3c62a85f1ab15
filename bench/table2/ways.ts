// The ways of the paper's Table 2 to a site of 16 nodes with 100 jobs that wait: a real Slurm by
// its own commands and over HTTP, another Weft, and the example of a script.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Adaptor } from '../../src/wings/sites/adaptors/adaptor.ts';
import { script } from '../../src/wings/sites/adaptors/script/script.ts';
import { slurm } from '../../src/wings/sites/adaptors/slurm/slurm.ts';
import { executionQueue } from '../../src/wings/sites/adaptors/slurm/steer.ts';
import { slurmrestd } from '../../src/wings/sites/adaptors/slurmrestd/slurmrestd.ts';
import { weft } from '../../src/wings/sites/adaptors/weft/weft.ts';
import { startCluster } from '../cluster.ts';
import { startSlurm } from '../mix/slurm.ts';
import { placeForRest, startSlurmRest } from '../mix/slurm-rest.ts';

export const NODES = 16;
export const JOBS = 100;
const CPUS = 2;

export interface Way {
  readonly name: string;
  readonly adaptor: Adaptor;
  readonly environment: Readonly<Record<string, string>>;
  /** Jobs that wait there, as many as may be started by us; none: it is only submitted to. */
  readonly startable: readonly string[];
  readonly node: (at: number) => string;
  /** For a scheduler of its own that starts its jobs there over HTTP, one after the other. */
  readonly door?: { open(): void; start(at: number): Promise<unknown> };
}

export interface Ways {
  readonly about: string;
  readonly ways: readonly Way[];
  stop(): Promise<void>;
}

const root = join(import.meta.dirname, '..', '..');
const folder = (): string => mkdtempSync(join(tmpdir(), 'weft-table2-'));
const nodeAt = (at: number): string => `n${(at % NODES) + 1}`;

/** Null: there is none on this machine. */
export async function slurmWays(): Promise<Ways | null> {
  const isThere = spawnSync('slurmrestd', ['-V']).status === 0;
  if (!isThere || process.getuid?.() !== 0) return null;
  const directory = folder();
  const scheduler = 'batch_sched_delay=0,sched_interval=86400,default_queue_depth=10000';
  const place = { ...placeForRest(directory), steered: true };
  const site = await startSlurm(NODES, CPUS, scheduler, place);
  const rest = await startSlurmRest(site, directory);
  const startable: string[] = [];
  for (let at = 0; at < JOBS; at += 1) {
    const words = ['--parsable', '--uid=nobody', '--chdir=/tmp', '--output=/dev/null'];
    startable.push((await site.command('sbatch', ...words, '--wrap=true')).trim());
  }
  const environment = { SLURM_CONF: site.environment['SLURM_CONF'] ?? '' };
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const common = { environment, node: nodeAt };
  return {
    about: site.version,
    ways: [
      { ...common, name: 'direct: Slurm by its commands', adaptor: slurm(steering), startable },
      {
        ...common,
        name: 'API: Slurm by slurmrestd',
        startable: [],
        adaptor: slurmrestd(rest.curl, rest.url),
      },
    ],
    async stop() {
      await rest.stop();
      await site.stop();
      rmSync(directory, { recursive: true });
    },
  };
}

export async function weftWays(): Promise<Ways> {
  const cluster = await startCluster({ nodes: NODES, cpus: CPUS });
  const program = [process.execPath, join(root, 'bin/weft.mjs'), '--dir', cluster.directory];
  const waiting: number[] = [];
  for (let at = 0; at < JOBS; at += 1) {
    const program = { kind: 'argv', argv: ['true'] };
    const { jobId } = await cluster.call<{ jobId: number }>('POST', '/v1/jobs', {
      program,
      held: true,
      memoryBytes: 16 * 1_048_576,
    });
    waiting.push(jobId);
  }
  const { nodes } = await cluster.call<{ nodes: { name: string }[] }>('GET', '/v1/nodes');
  return {
    about: `Weft, ${NODES} nodes`,
    ways: [
      {
        name: 'API: another Weft by weft',
        adaptor: weft(program),
        environment: {},
        startable: [],
        node: nodeAt,
        door: {
          // A start of what is held is refused, and its own scheduler is to start nothing of it.
          open: () => {
            cluster.cli('partition', 'set', 'default', 'policy=external');
            cluster.cli('release', ...waiting.map(String));
          },
          start: (at) => {
            const on = { nodes: [nodes[at % nodes.length]?.name] };
            return cluster.call('POST', `/v1/jobs/${waiting[at]}/start`, on);
          },
        },
      },
    ],
    stop: async () => cluster.stop(),
  };
}

export function scriptWays(): Ways {
  const directory = folder();
  const state = join(directory, 'state');
  mkdirSync(state);
  const lines = Array.from({ length: NODES }, (_, at) => `${nodeAt(at)} ${CPUS}\n`);
  writeFileSync(join(state, 'nodes'), lines.join(''));
  writeFileSync(join(state, 'steered'), '');
  writeFileSync(join(directory, 'job'), 'exit 0\n');
  const program = [join(root, 'examples/adaptor/processes'), state];
  const startable = Array.from({ length: JOBS }, (_, at) => {
    const asked = { SITE_NAME: `job${at}`, SITE_SCRIPT_FILE: join(directory, 'job') };
    const env = { ...process.env, ...asked };
    const said = execFileSync(program[0] ?? '', [state, 'submit'], { env, encoding: 'utf8' });
    return (JSON.parse(said) as { job: string }).job;
  });
  return {
    about: 'examples/adaptor/processes',
    ways: [
      {
        name: 'script: the example in shell',
        adaptor: script(program, { steers: true }),
        environment: {},
        startable,
        node: nodeAt,
      },
    ],
    async stop() {
      if (existsSync(directory)) rmSync(directory, { recursive: true });
    },
  };
}
