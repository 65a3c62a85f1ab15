// Tasks that were placed on a node of a site before a maintenance had it stopped.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { Command } from '../../../../../../src/kernel/ports/commands.ts';
import { slurm } from '../../../../../../src/wings/sites/adaptors/slurm/slurm.ts';
import { executionQueue } from '../../../../../../src/wings/sites/adaptors/slurm/steer.ts';
import { NodeStops } from '../../../../../../src/wings/sites/fabric/site/node-stops.ts';
import { SiteProcesses } from '../../../../../../src/wings/sites/fabric/site/site-processes.ts';
import { Steerer } from '../../../../../../src/wings/sites/fabric/site/steerer.ts';
import { siteFolders } from '../../../../../../src/wings/sites/os/site-folders.ts';
import { PLAIN_LAUNCH } from '../../../../../support/plain.ts';
import { VirtualClock } from '../../../../kernel/agent/fake-world.ts';
import { KeptLog } from '../../../../kernel/head/http/fixture.ts';
import { FakeSlurm } from './fake-slurm.ts';

const top = mkdtempSync(join(tmpdir(), 'weft-stopped-'));
after(() => rmSync(top, { recursive: true }));

/** Begins a job that it is told to start where its nodes take jobs. */
class Starting extends FakeSlurm {
  readonly starts: string[] = [];
  override async run(command: Command) {
    const { argv } = command;
    const job = argv.find((word) => word.startsWith('jobid='))?.slice('jobid='.length);
    if (argv[0] === 'scontrol' && job !== undefined && argv.includes('Partition=steer')) {
      const open = this.nodes.filter(({ state_flags: flags }) => !String(flags).includes('DRAIN'));
      this.starts.push(`${job} with open: ${open.map(({ name }) => name).join(' ')}`);
      if (open.length === this.nodes.length) this.set(Number(job), { state: 'RUNNING' });
    }
    return await super.run(command);
  }
}

function gateway(maintenance: string | null) {
  const [site, clock, log] = [new Starting(), new VirtualClock(), new KeptLog()];
  site.nodes.push({ name: 'n2', state: 'idle', cpus: 2, alloc_cpus: 0, real_memory: 1000 });
  const steering = executionQueue({ main: 'main', execution: 'steer' });
  const adaptor = slurm(steering);
  const settings = { timeoutMs: 1000, before: [] };
  const notes = { all: () => new Map(), write: () => undefined, remove: () => undefined };
  const stops = new NodeStops({ adaptor, commands: site, clock, log, notes, settings });
  const steerer = new Steerer({ steering, commands: site, log, settings });
  const processes = new SiteProcesses({
    adaptor,
    commands: site,
    clock,
    log,
    folders: siteFolders(mkdtempSync(join(top, 'of-'))),
    settings: {
      prefix: 'weft-abc',
      queue: null,
      account: null,
      options: [],
      ...settings,
      pollMs: 1000,
      commandsMax: 4,
    },
    place: { node: 'n1', steerer, nameAtSite: (name) => name, stops },
  });
  const job = String(site.give('own'));
  const start = () =>
    processes.start({
      ...PLAIN_LAUNCH,
      launchId: 1,
      argv: ['sh'],
      cwd: top,
      environment: maintenance === null ? [] : [`MAINTENANCE_ID=${maintenance}`],
      foreign: { job, index: null, isLead: true, nodes: ['n1', 'n2'] },
    });
  return { site, clock, stops, processes, start };
}

const until = new VirtualClock().now() + 3_600_000;
const WISHES = ['n1', 'n2'].map((node) => ({ node, maintenance: 'm3', until }));

test('[M9] a job that was placed before its nodes were stopped begins, and they stay stopped', async () => {
  const { site, clock, stops, processes, start } = gateway(null);
  await processes.adopt();
  stops.want(WISHES);
  await clock.settle();
  start();
  await clock.advance(10_000);
  assert.deepEqual(site.starts, ['101 with open: n1 n2']);
  assert.deepEqual(
    site.nodes.map(({ reason }) => reason),
    ['weft maintenance m3', 'weft maintenance m3'],
  );
  processes.close();
});

test('[M9] the program of another maintenance opens no node', async () => {
  const { site, clock, stops, processes, start } = gateway('m4');
  await processes.adopt();
  stops.want(WISHES);
  await clock.settle();
  start();
  await clock.advance(10_000);
  assert.deepEqual(site.starts, []);
  processes.close();
});
