// What may follow the words typed so far: verbs, options, job ids and names of nodes, partitions
// and qualities of service.

import tab, { type Complete, type RootCommand } from '@bomb.sh/tab';
import type { Argument, Command, Option } from 'commander';
import type { Context } from '../context.ts';
import { Failure } from '../failure.ts';

/** Somebody waits with a finger on the key. */
const FETCH_MAX_MS = 800;
const JOBS_OFFERED = 200;

type Offers = (readonly [word: string, text: string])[];
type Words = ReadonlyMap<string, Offers>;

/** Prints suggestions in the form that the shell scripts read. */
export async function completeWords(context: Context, words: readonly string[]): Promise<void> {
  const program = await context.commands(words[0] ?? '');
  const offers = await fetchOffers(context, commandOf(program, words));
  describe(tab, program, { name: '', offers });
  tab.parse([...words]);
}

function commandOf(program: Command, words: readonly string[]): Command {
  const verb = program.commands.find((command) => command.name() === words[0]);
  return verb?.commands.find((command) => command.name() === words[1]) ?? verb ?? program;
}

/** Asks the head only when the command takes such words; without a head there are none. */
async function fetchOffers(context: Context, command: Command): Promise<Words> {
  const takes = command.registeredArguments.map((argument) => argument.name());
  const wanted = new Set([...takes, ...command.options.map((option) => option.attributeName())]);
  const offers = new Map<string, Offers>();
  try {
    for (const [kind, fetch] of Object.entries(FETCHERS)) {
      if (wanted.has(kind)) offers.set(kind, await fetch(context));
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
  return offers;
}

/** By the name of an operand or option. */
const FETCHERS: Readonly<Record<string, (context: Context) => Promise<Offers>>> = {
  job: jobOffers,
  node: nodeOffers,
  partition: partitionOffers,
  qos: qosOffers,
};

async function jobOffers(context: Context): Promise<Offers> {
  const api = await context.api();
  const query = { state: 'all', limit: JOBS_OFFERED };
  const { jobs } = await api.call('listJobs', { query, timeoutMs: FETCH_MAX_MS });
  return jobs.map((job) => [String(job.id), `${job.name} ${job.outcome?.kind ?? job.state}`]);
}

async function nodeOffers(context: Context): Promise<Offers> {
  const api = await context.api();
  const { nodes } = await api.call('listNodes', { timeoutMs: FETCH_MAX_MS });
  return nodes.map((node) => [node.name, node.state]);
}

async function partitionOffers(context: Context): Promise<Offers> {
  const api = await context.api();
  const { partitions } = await api.call('listPartitions', { timeoutMs: FETCH_MAX_MS });
  return partitions.map(({ name, state }) => [name, state]);
}

async function qosOffers(context: Context): Promise<Offers> {
  const api = await context.api();
  const { qualities } = await api.call('listQos', { timeoutMs: FETCH_MAX_MS });
  return qualities.map(({ name, priority }) => [name, `priority ${priority}`]);
}

function describe(
  root: RootCommand,
  command: Command,
  { name, offers }: { name: string; offers: Words },
): void {
  const entry = name === '' ? root : root.command(name, command.summary());
  for (const option of command.options) addOption(entry, option, offers);
  for (const argument of command.registeredArguments) addArgument(entry, argument, offers);
  for (const inner of command.commands) {
    describe(root, inner, { name: name === '' ? inner.name() : `${name} ${inner.name()}`, offers });
  }
}

type Entry = ReturnType<RootCommand['command']>;

function addOption(entry: Entry, option: Option, offers: Words): void {
  const long = option.long?.slice(2);
  if (long === undefined) return;
  const short = option.short?.slice(1);
  const takesValue = option.required || option.optional;
  if (takesValue)
    entry.option(long, option.description, offerOf(offers, option.attributeName()), short);
  else entry.option(long, option.description, short);
}

function addArgument(entry: Entry, argument: Argument, offers: Words): void {
  const kind = argument.name();
  entry.argument(kind, offerOf(offers, kind), argument.variadic);
}

function offerOf(offers: Words, kind: string): (complete: Complete) => void {
  return (complete) => {
    for (const [word, text] of offers.get(kind) ?? []) complete(word, text);
  };
}
