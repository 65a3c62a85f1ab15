// The adaptor of the simulated batch system, whose commands speak JSON, and what they answer. As
// every adaptor it believes nothing that is not whole.

import { ok, type Result } from '../../src/kernel/base/result.ts';
import type { SiteEnd, SiteJob, SiteNode, SiteQueue } from '../../src/kernel/model/site.ts';
import type {
  Adaptor,
  SiteCommand,
  SiteOutput,
  SiteProblem,
  SiteQuery,
  Steering,
  Takeover,
} from '../../src/wings/sites/adaptors/adaptor.ts';
import {
  isRecord,
  parseJson,
  saidBy,
  siteProblem,
  unreadable,
} from '../../src/wings/sites/adaptors/read.ts';

/** What a command says: a value, or why not. */
export type Said =
  | { readonly value: unknown }
  | { readonly problem: 'refused' | 'no_such_job' | 'away'; readonly text: string };

/**
 * @param hasAccounting jobs that are forgotten have left a record
 * @param takeover null: it is not steered; `tickets`: jobs start where they find theirs
 */
export function foreignAdaptor(
  hasAccounting: boolean,
  takeover: Takeover | 'tickets' | null,
): Adaptor {
  return {
    variables: [],
    system: 'simulated',
    jobs: query<readonly SiteJob[]>(['jobs'], Array.isArray),
    nodes: query<readonly SiteNode[]>(['nodes'], Array.isArray),
    queues: query<readonly SiteQueue[]>(['queues'], Array.isArray),
    submit({ name, script, directory, cpuCount, walltimeMs }) {
      const words = ['submit', name, directory, String(cpuCount), String(walltimeMs)];
      const { command, read } = query<string>(words, isText);
      return { command: { ...command, input: script }, read };
    },
    named: (name) => query<readonly string[]>(['named', name], Array.isArray),
    cancel: (job) => query<null>(['cancel', job], isNull),
    end: hasAccounting
      ? (job) => query<SiteEnd | null>(['end', job], (one) => isNull(one) || isRecord(one))
      : null,
    known: (job) => query<boolean>(['known', job], isBoolean),
    element: (array, index) => `${array}.${index}`,
    setNode: (change) => [
      commandOf(['node', change.node, change.kind === 'stop' ? change.reason : '']),
    ],
    steering:
      takeover === null ? null : takeover === 'tickets' ? byTickets() : steeringBy(takeover),
  };
}

function steeringBy(takeover: Takeover): Steering {
  return {
    takeover,
    needsHandle: false,
    requirements: [
      {
        what: 'nothing starts by itself',
        query: query<boolean>(['quiet'], isBoolean),
        remedy: 'switch the scheduler off, or close the queue that users submit to',
      },
    ],
    start: ({ id }, nodes) => [commandOf(['start', id, nodes.join()])],
    read: (output) => readSaid<null>('start', output, isNull),
    // Without a queue for what is to run, a start has all that it asks for at once, or nothing.
    takeBack: ({ id }) => (takeover === 'execution_queue' ? [commandOf(['take-back', id])] : []),
  };
}

/** Steering like that of Grid Engine. */
function byTickets(): Steering {
  const set = (node: string, ticket: string) => commandOf(['ticket', node, ticket]);
  const close = (nodes: readonly string[]) => nodes.map((node) => set(node, ''));
  const letAll = ([array = '', element]: readonly string[]) =>
    element === undefined ? [] : [commandOf(['let', array, ''])];
  return {
    ...steeringBy('disabled_scheduler'),
    needsHandle: true,
    start({ id, handle }, nodes) {
      const [array = '', element] = id.split('.');
      const one = [commandOf(['keep', array]), commandOf(['let', array, element ?? ''])];
      return [
        ...(element === undefined ? [] : one),
        ...nodes.map((node) => set(node, handle ?? '')),
        commandOf(['pass']),
        ...close(nodes),
        ...letAll(id.split('.')),
      ];
    },
    takeBack: ({ id }, nodes) => [...close(nodes), ...letAll(id.split('.'))],
    leftovers: [
      leftover('kept', (id) => commandOf(['let', id, ''])),
      leftover('opened', (node) => set(node, '')),
    ],
  };
}

function leftover(
  word: string,
  undo: (name: string) => SiteCommand,
): SiteQuery<readonly SiteCommand[]> {
  const { command, read } = query<readonly string[]>([word], Array.isArray);
  return {
    command,
    read(output) {
      const names = read(output);
      return names.ok ? ok(names.value.map(undo)) : names;
    },
  };
}

function commandOf(words: readonly string[]): SiteCommand {
  return { argv: ['fb', ...words] };
}

function query<T>(words: readonly string[], isIt: (value: unknown) => boolean): SiteQuery<T> {
  const read = (output: SiteOutput): Result<T, SiteProblem> =>
    readSaid<T>(words[0] ?? '', output, isIt);
  return { command: commandOf(words), read };
}

function readSaid<T>(
  word: string,
  output: SiteOutput,
  isIt: (value: unknown) => boolean,
): Result<T, SiteProblem> {
  if (output.code !== 0) return siteProblem('away', `${word}: ${saidBy(output)}`);
  const said = parseJson(output.stdout);
  if (!isRecord(said)) return unreadable(word, 'its answer is no JSON');
  const { problem, text, value } = said;
  if (problem === 'refused' || problem === 'no_such_job' || problem === 'away') {
    return siteProblem(problem, String(text));
  }
  return isIt(value) ? ok(value as T) : unreadable(word, 'its answer is of another kind');
}

function isText(value: unknown): boolean {
  return typeof value === 'string';
}

function isNull(value: unknown): boolean {
  return value === null;
}

function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean';
}
