// A step in the place of this command: its input, output, signals and exit code become ours.

import { constants } from 'node:os';
import type { Context } from '../../../kernel/cli/context.ts';
import { LineLabeller } from '../../../kernel/cli/jobs/line-labeller.ts';
import { type Standstill, tellStandstill } from '../../../kernel/cli/jobs/standstill.ts';
import { Escapes } from '../core/escapes.ts';
import { TaggedOutput, type Written } from '../core/pmix.ts';
import { StepClient, type StepResult, type StepSink } from '../sdk/step-client.ts';
import { PmiRanks } from './pmi-ranks.ts';
import { startIn } from './start-step.ts';
import type { Target } from './target.ts';

export interface StepWish {
  readonly target: Target;
  readonly argv: readonly string[];
  readonly count: number;
  readonly perNode: boolean;
  readonly directory: string | undefined;
  readonly environment: Readonly<Record<string, string>>;
  readonly label: boolean;
  readonly terminal: boolean;
  /** The processes are of MPI, and find each other by PMI. */
  readonly pmi?: boolean;
  readonly bind?: 'none' | 'core' | 'numa';
  /** How long it goes on when the line is lost; undefined: a minute. */
  readonly lingerMs?: number | undefined;
  /** Cpus that it is given, on all its nodes; absent: all of its task there. */
  readonly cpuCount?: number;
  /** Shown in place of the command. */
  readonly title?: string;
  /** What it writes says of which rank it is: labels are of ranks. */
  readonly isTagged?: boolean;
  /** Hears of each end, and may end the others. */
  readonly watch?: (step: { readonly id: string; readonly signal: (number: number) => void }) => {
    ended(code: number): void;
    close(): void;
  };
}

const PASSED = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;
/** Signals from which on this command ends, whatever the step does. */
const PATIENCE = 3;

/** Resolves with the highest exit code. */
export async function runStep(context: Context, wish: StepWish): Promise<number> {
  const { target, argv, count, perNode, directory, environment, terminal } = wish;
  const { pmi = false, bind = 'none', isTagged = false, title, lingerMs } = wish;
  const api = await context.api();
  const raw = context.terminal.raw;
  const size = terminal ? (raw?.size() ?? { rows: 0, columns: 0 }) : undefined;
  const early = keepSignals();
  // Heads of releases before know of no binding.
  const bound = bind === 'none' ? {} : { bind };
  const reply = await startIn(api, target.task, {
    argv,
    count,
    perNode,
    environment,
    node: target.node ?? undefined,
    directory,
    terminal: size,
    pmi,
    ...(title === undefined ? {} : { title: titleWithin(title) }),
    ...bound,
    cpuCount: wish.cpuCount,
    ...(wish.lingerMs === undefined ? {} : { lingerMs: wish.lingerMs }),
  }).catch((error: unknown) => {
    early.end();
    throw error;
  });
  const nodes = reply.processes.map(({ node: name }) => name);
  const note = (line: string): void => context.note(`step ${reply.id}: ${line}`);
  const ranks = pmi ? new PmiRanks(reply.id, nodes, note) : null;
  const { id, epochId } = reply;
  const clients = reply.processes.map(({ rank }) => {
    const label = wish.label ? `${rank}: ` : null;
    const shown = isTagged ? taggedSink(context) : sinkOf(context, label);
    const heard = (bytes: Buffer): void => ranks?.hear(rank, bytes);
    const sink = { ...shown, pmi: heard };
    const client = new StepClient(api, { id, rank, epochId, program: argv[0], lingerMs }, sink);
    ranks?.add(client);
    return { sink, client };
  });
  const all = clients.map(({ client }) => client);
  const watch = wish.watch?.({
    id,
    signal: (number) => {
      for (const client of all) client.signal(number);
    },
  });
  for (const client of all) void client.done.then(({ code }) => watch?.ended(code));
  const ending = new Ending(context, target.task, all);
  const restore = terminal
    ? sitAt(context, all[0] as StepClient, ending)
    : standBy(context, all, { ending, hasInput: !pmi });
  // Not before others listen: a signal in between would end this command in place of the step.
  early.end();
  for (const name of early.kept) ending.pass(name);
  const results = await Promise.all(all.map((client) => client.done));
  restore();
  ending.stop();
  watch?.close();
  for (const { sink } of clients) sink.end();
  tell(context, reply.id, results);
  if (ranks?.unmet != null && results.every(({ why }) => why === null)) note(ranks.unmet);
  return ranks?.code ?? Math.max(...results.map(({ code }) => code));
}

/** The step may run before its answer is here: signals of then are for it. */
function keepSignals(): { readonly kept: readonly NodeJS.Signals[]; readonly end: () => void } {
  const kept: NodeJS.Signals[] = [];
  const keep = (name: NodeJS.Signals): void => {
    kept.push(name);
    if (kept.length < PATIENCE) return;
    end();
    process.kill(process.pid, name);
  };
  const names = [...PASSED, 'SIGHUP'] as const;
  for (const name of names) process.on(name, keep);
  const end = (): void => {
    for (const name of names) process.off(name, keep);
  };
  return { kept, end };
}

/** Signals of this command for the step: a task that stands still would not end by them. */
class Ending {
  readonly #clients: readonly StepClient[];
  readonly #still: Standstill;
  #isAsked = false;

  constructor(context: Context, task: string, clients: readonly StepClient[]) {
    this.#clients = clients;
    this.#still = tellStandstill(context, task, () => this.#leaveStill());
  }

  pass(name: NodeJS.Signals): void {
    if (name === 'SIGHUP') return this.leave('hung up');
    for (const client of this.#clients) client.signal(constants.signals[name]);
    if (name !== 'SIGTERM') return;
    this.#isAsked = true;
    void this.#still.look();
  }

  leave(why: string): void {
    for (const client of this.#clients) client.leave(why);
  }

  stop(): void {
    this.#still.stop();
  }

  #leaveStill(): void {
    if (!this.#isAsked) return;
    // Asked a second time they would not wait for their nodes to hear of it.
    this.#isAsked = false;
    this.leave('its task is suspended, and takes no signal: hung up');
  }
}

/** Each reason once, however many processes have it. */
function tell(context: Context, id: string, results: readonly StepResult[]): void {
  const whys = new Set(results.flatMap(({ why }) => why ?? []));
  for (const why of [...whys].slice(0, 8)) context.note(`step ${id}: ${why}`);
}

interface EndedSink extends StepSink {
  end(): void;
}

export function sinkOf(context: Context, label: string | null): EndedSink {
  const { raw } = context.terminal;
  const show = (stream: 'out' | 'error') => async (bytes: Uint8Array) => {
    if (raw === undefined) context[stream](bytes);
    else await raw[stream](bytes);
  };
  const note = (line: string): void => context.note(line);
  if (label === null) return { out: show('out'), error: show('error'), note, end: () => undefined };
  const labelled = (stream: 'out' | 'error') => {
    let last: Promise<void> = Promise.resolve();
    const labeller = new LineLabeller(label, (bytes) => {
      last = show(stream)(bytes);
    });
    const write = (bytes: Uint8Array): Promise<void> => {
      labeller.write(bytes);
      return last;
    };
    return { write, end: () => labeller.end() };
  };
  const [out, error] = [labelled('out'), labelled('error')];
  const end = (): void => {
    out.end();
    error.end();
  };
  return { out: out.write, error: error.write, note, end };
}

const TITLE_MAX = 200;

function titleWithin(title: string): string {
  return title
    .replace(/[^\x20-\x7e]+/g, ' ')
    .slice(0, TITLE_MAX)
    .trim();
}

/** Lines of ranks, each with the rank before it; what their starter says has none. */
function taggedSink(context: Context): EndedSink {
  const plain = sinkOf(context, null);
  const tagged = (stream: 'out' | 'error') => {
    const output = new TaggedOutput();
    const sinks = new Map<number, EndedSink>();
    const sinkFor = (rank: number): EndedSink => {
      const sink = sinks.get(rank) ?? sinkOf(context, `${rank}: `);
      sinks.set(rank, sink);
      return sink;
    };
    const show = async (written: readonly Written[]): Promise<void> => {
      for (const { rank, text } of written)
        await (rank === null ? plain : sinkFor(rank))[stream](Buffer.from(text, 'latin1'));
    };
    const end = (): void => {
      void show(output.end());
      for (const sink of sinks.values()) sink.end();
    };
    return {
      write: (bytes: Uint8Array) => show(output.write(Buffer.from(bytes).toString('latin1'))),
      end,
    };
  };
  const [out, error] = [tagged('out'), tagged('error')];
  const end = (): void => {
    out.end();
    error.end();
  };
  return { out: out.write, error: error.write, note: plain.note, end };
}

/** Input of a pipe or file goes to the first process; signals go to all. */
function standBy(
  context: Context,
  clients: readonly StepClient[],
  { ending, hasInput }: { readonly ending: Ending; readonly hasInput: boolean },
): () => void {
  const [first, ...others] = clients;
  for (const other of others) other.endInput();
  // A program that does not read would hold up what it is told by PMI, which comes behind its
  // input.
  if (!hasInput) first?.endInput();
  else if (first !== undefined) feed(context, first);
  let asked = 0;
  const onSignal = (name: NodeJS.Signals): void => {
    asked += 1;
    ending.pass(name);
    if (asked >= PATIENCE) ending.leave('left behind, and hung up');
  };
  const onHangUp = (): void => ending.leave('hung up');
  for (const name of PASSED) process.on(name, onSignal);
  process.on('SIGHUP', onHangUp);
  return () => {
    for (const name of PASSED) process.off(name, onSignal);
    process.off('SIGHUP', onHangUp);
    if (first !== undefined && hasInput) stopInput(context);
  };
}

function feed(context: Context, client: StepClient): void {
  const { input } = context.terminal;
  if (input === undefined || input.kind === 'nothing') return client.endInput();
  const stream = input.open();
  stream.on('data', (bytes: Buffer) => {
    stream.pause();
    void client.input(bytes).then(() => stream.resume());
  });
  stream.on('end', () => client.endInput());
  stream.on('error', () => client.endInput());
}

/** Nothing keeps this process then. */
function stopInput({ terminal: { input } }: Context): void {
  if (input !== undefined && input.kind !== 'nothing') input.open().destroy();
}

/** The terminal is the step's: keys as they come, its size, and a way out. */
function sitAt(context: Context, client: StepClient, ending: Ending): () => void {
  const { raw, input } = context.terminal;
  if (raw === undefined || input?.kind !== 'terminal') {
    return standBy(context, [client], { ending, hasInput: true });
  }
  const giveBack = raw.takeKeys();
  const escapes = new Escapes();
  const stream = input.open();
  stream.on('data', (bytes: Buffer) => {
    const { typed, leaves } = escapes.take(bytes);
    stream.pause();
    void client.input(Buffer.from(typed)).then(() => stream.resume());
    if (leaves) client.leave('detached, and hung up');
  });
  stream.on('end', () => client.leave('hung up'));
  stream.on('error', () => client.leave('hung up'));
  const unsubscribe = raw.onResize(() => client.resize(raw.size()));
  const onSignal = (): void => client.leave('hung up');
  for (const name of ['SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  return () => {
    for (const name of ['SIGTERM', 'SIGHUP'] as const) process.off(name, onSignal);
    unsubscribe();
    giveBack();
    stopInput(context);
  };
}
