// A head whose disk is put back as it was some time ago, and which is then told to go on: what its
// nodes remember must keep it from doing harm. Real head, real agents, and nothing else goes wrong.

import type { Actor, Role } from '../../src/core/model/actor.ts';
import type { NodeName, UserName } from '../../src/core/model/ids.ts';
import { plainScheduling } from '../../src/core/model/scheduling.ts';
import { MemoryDisk } from '../../src/store/memory.ts';
import { Streams } from '../chance.ts';
import { Chronicle } from '../chronicle.ts';
import { Time } from '../clock.ts';
import { dialerOf, dialTo } from '../dial.ts';
import { HeadHost } from '../head-host.ts';
import { headSettings } from '../head-settings.ts';
import { Machine, type MachineMake } from '../machine.ts';
import { Link } from '../net.ts';
import { programOf, QUIET } from '../plan.ts';
import type { SimProcess } from '../process.ts';
import { placeOf } from '../truth.ts';
import { Violation } from '../violation.ts';

/** What a planted bug leaves out, and takes back. */
export interface RestoredBug {
  readonly countsLives?: false;
  readonly plant?: () => () => void;
}

/** What became of a run. */
export interface RestoredEnd {
  readonly violation: Violation | null;
  /** Jobs that the copy did not know. */
  readonly lost: number;
}

const NODES = ['n1', 'n2', 'n3'];
const QUIET_MS_MAX = 600_000;
const ADMIN = actor('root', 'admin');

function actor(name: string, role: Role): Actor {
  // Every machine of the simulator has these users under ids of its own.
  return { kind: 'user', name: name as UserName, uid: null, role };
}

class RestoredWorld {
  readonly time = new Time();
  readonly chronicle: Chronicle;
  readonly host: HeadHost;
  readonly machines: readonly Machine[];
  readonly #streams: Streams;
  /** Exit codes by name. */
  readonly #codes = new Map<string, number>();
  readonly #starts = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /** Had started when the disk was copied. */
  #begun: ReadonlySet<string> = new Set();
  #copied = false;
  lost = 0;

  constructor(seed: number, trace?: (line: string) => void) {
    this.#streams = new Streams(seed);
    this.chronicle = new Chronicle(this.time, trace);
    const links = NODES.map((name) => this.#link(name));
    this.host = this.#makeHost(links);
    this.machines = links.map((link) => this.#machine(link));
  }

  async run(): Promise<void> {
    const dice = this.#streams.of('course');
    this.host.boot();
    for (let tries = 0; tries < 100 && !this.host.isUp; tries += 1) await this.#pass(10);
    for (const name of NODES) this.#enrol(name);
    await this.#pass(100);
    for (const machine of this.machines) machine.powerOn();
    await this.#submitFor(dice.whole(5000, 30_000));
    const copy = copyOf(this.host.disk);
    this.#begun = new Set(this.#starts.keys());
    this.#copied = true;
    const known = this.#codes.size;
    await this.#submitFor(dice.whole(4000, 30_000));
    this.lost = this.#codes.size - known;
    this.host.crash();
    await this.#pass(dice.whole(0, 5000));
    putBack(this.host.disk, copy);
    this.host.boot();
    await this.#submitFor(dice.whole(8000, 20_000));
    this.host.crash();
    this.host.acceptLoss = true;
    this.host.boot();
    await this.#submitFor(10_000);
    await this.#untilQuiet();
  }

  async #submitFor(ms: number): Promise<void> {
    const dice = this.#streams.of('jobs');
    for (const until = this.time.now + ms; this.time.now < until; ) {
      this.#submit();
      await this.#pass(dice.whole(100, 2000));
    }
  }

  #submit(): void {
    const dice = this.#streams.of('jobs');
    const name = `j${this.#codes.size + 1}`;
    const code = dice.pick([0, 0, 3]);
    const program = programOf({ ...QUIET, runMs: dice.pick([50, 3000, 20_000]), code });
    const submission = { name, program, environment: { NAME: name } };
    const command = { kind: 'submit_job', submission, key: name, retired: {} } as const;
    this.#codes.set(name, code);
    this.host.execute(command, actor(dice.pick(['alice', 'bob']), 'user'), (result) => {
      this.chronicle.note(`${name}: ${result.ok ? 'accepted' : result.error.code}`);
    });
  }

  #enrol(name: string): void {
    const node = name as NodeName;
    const given = { secretHash: '', resources: null, labels: [], replace: false };
    this.host.execute({ kind: 'enroll_node', node, ...given }, ADMIN, () => undefined);
  }

  async #untilQuiet(): Promise<void> {
    const until = this.time.now + QUIET_MS_MAX;
    while (this.time.now < until) {
      await this.#pass(1000);
      const open = [...(this.host.engine?.state.jobs.values() ?? [])].filter(
        ({ outcome }) => outcome === null,
      );
      if (this.host.isUp && open.length === 0) return this.#checkOutcomes();
    }
    throw new Violation('L1', 'jobs that the head knows never end');
  }

  /** Nobody gets the result of another. */
  #checkOutcomes(): void {
    for (const { id, spec, outcome } of this.host.engine?.state.jobs.values() ?? []) {
      const code = this.#codes.get(spec.name);
      const wanted = code === 0 ? 'completed' : 'failed';
      if (outcome?.kind === wanted && outcome.exit?.code === code) continue;
      throw new Violation('S13', `job ${id} (${spec.name}) ended as ${outcome?.kind}: ${code}`);
    }
  }

  #started(process: SimProcess): void {
    const { epochId, jobId } = placeOf(process);
    const name = process.variables.get('NAME') ?? '';
    this.chronicle.note(`${process.node}: ${epochId} starts as ${name}`);
    if (this.host.engine?.behind != null) {
      throw new Violation('S14', `${epochId} starts while records are missing`);
    }
    const other = this.#names.get(jobId);
    if (other !== undefined && other !== name) {
      throw new Violation('S14', `job id ${jobId} is of ${other} and of ${name}`);
    }
    this.#names.set(jobId, name);
    const starts = (this.#starts.get(name) ?? 0) + 1;
    this.#starts.set(name, starts);
    // What waited when the copy was made, and ran since, is run again: its record is lost.
    const max = this.#copied && !this.#begun.has(name) ? 2 : 1;
    if (starts > max) throw new Violation('S13', `${name} is run again though its end is known`);
  }

  #pass(ms: number): Promise<void> {
    return this.chronicle.until(this.time.now + ms, () => undefined);
  }

  #link(name: string): Link {
    const streams = this.#streams.under(`net ${name}`);
    const onDelivery: Link['world']['onDelivery'] = (_, { hand }) => hand();
    return new Link(name, { time: this.time, streams, duplicates: 0, onDelivery });
  }

  #makeHost(links: readonly Link[]): HeadHost {
    const { time, chronicle } = this;
    return new HeadHost({
      ...{ time, note: chronicle.note, log: chronicle.log('head') },
      ...{ commitMs: { min: 0.5, max: 5 }, streams: this.#streams.under('head') },
      settings: headSettings({
        ...{ nodeTimeoutMs: 5000, heartbeatMs: 1000, killGraceMs: 1000, retainedJobsMax: 10_000 },
        ...{ scheduling: plainScheduling('first_fit'), buildMsMax: 60_000 },
        archiveDefaultBytes: 64 * 1_048_576,
      }),
      ...{ notifiersOf: null, fence: null, firstWordMs: 2000 },
      onGone: () => {
        for (const link of links) link.sideGone('head', true);
      },
      ...{ onCrash: () => undefined, onBooted: () => undefined, onDurable: () => undefined },
      ...{ wrapStore: (store) => store, wrapSession: (session) => session },
    });
  }

  #machine(link: Link): Machine {
    const { time, host, chronicle } = this;
    const name = link.node as NodeName;
    const resources = { cpuCount: 2, memoryBytes: 2 ** 30, gpuCount: 0, counted: {} };
    const make: MachineMake = { name, resources, hasGroups: true, sharedPaths: ['/'], rate: 1 };
    return new Machine(make, {
      ...{ time, link, streams: this.#streams.under(name), log: chronicle.log(name) },
      note: chronicle.note,
      dialer: (_, life) => dialerOf({ time, link, life, host, name }),
      dialFiles: (_, life) => {
        return dialTo({ time, link, life, host, name }, (session) => {
          host.acceptFiles(session, name);
        });
      },
      onProcess: (what, process) => {
        if (what === 'start') chronicle.guard(() => this.#started(process));
      },
      ...{ onWrite: () => undefined, onOutput: () => undefined, onBuild: () => undefined },
      ...{ runScript: () => null, wrapPorts: (ports) => ports },
    });
  }
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  const copy = new MemoryDisk();
  putBack(copy, disk);
  return copy;
}

function putBack(disk: MemoryDisk, from: MemoryDisk): void {
  disk.journal = [...from.journal];
  disk.snapshot = from.snapshot;
  disk.jobs.clear();
  for (const [id, row] of from.jobs) disk.jobs.set(id, row);
  disk.tasks.clear();
  for (const [key, row] of from.tasks) disk.tasks.set(key, row);
}

/** One run; never rejects. */
export async function runRestored(
  seed: number,
  bug: RestoredBug = {},
  trace?: (line: string) => void,
): Promise<RestoredEnd> {
  const world = new RestoredWorld(seed, trace);
  world.host.countsLives = bug.countsLives ?? true;
  const remove = bug.plant?.();
  await world.chronicle.watch(async () => {
    try {
      await world.run();
    } finally {
      world.host.life.alive = false;
      for (const machine of world.machines) machine.leave();
      remove?.();
    }
  });
  return { violation: world.chronicle.violation, lost: world.lost };
}
