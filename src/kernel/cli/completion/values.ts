// What may stand where: the words of each option's value and of each operand, or files, or folders.

import type { Argument, Option } from 'commander';
import { PARTITION_FIELDS } from '../../config/tables.ts';
import { ROLES } from '../../model/actor.ts';
import { JOB_ORDERS, OUTCOME_FILTERS, TASK_STATES } from '../../model/job.ts';
import { RUNNING_POLICIES } from '../../model/maintenance.ts';
import type { OptionRow } from '../../model/options/row.ts';
import { attributeOf, ROWS } from '../../model/options/table.ts';
import type { Form } from '../../model/options/types.ts';
import { PLANNING_POLICIES } from '../../model/scheduling.ts';
import { SIGNALS } from '../../model/signals.ts';
import type { Completion, HookWing } from '../context.ts';
import { STATE_WORDS } from '../jobs/state-filter.ts';
import { FORMAT_WORDS } from '../output/listing.ts';
import { CHANGEABLE } from '../partitions/change.ts';
import type { Offer } from './offer.ts';
import { type Live, offersOf } from './offers.ts';

/** A word that ends in `=` or `:` goes on. */
export type Value =
  | { readonly kind: 'nothing' | 'files' | 'folders' }
  | { readonly kind: 'words'; readonly words: readonly Offer[]; readonly isList?: boolean }
  | ({ readonly kind: 'live' } & Completion);

const NOTHING: Value = { kind: 'nothing' };
const words = (list: readonly string[], text = ''): Value => ({
  kind: 'words',
  words: list.map((word) => [word, text]),
});
const live = (what: Live): Value => ({ kind: 'live', offers: offersOf(what) });
const liveList = (what: Live): Value => ({ kind: 'live', offers: offersOf(what), isList: true });

/** What the table of job options says of their values. */
function ofJobOptions(): Record<string, Value> {
  const found = ROWS.flatMap((row): [string, Value][] => {
    const offered = offeredBy(row);
    return offered === null ? [] : [[attributeOf(row), offered]];
  });
  return Object.fromEntries(found);
}

function offeredBy({ offers, type }: OptionRow): Value | null {
  if (typeof offers === 'string') return type?.isList ? liveList(offers) : live(offers);
  if (offers !== undefined) return words(offers);
  const form: Form | undefined = type?.form;
  return form?.kind === 'choice' ? words(form.words) : null;
}

/** By the name of the option; `COMMAND --option` where one command means something else. */
const OPTIONS: Readonly<Record<string, Value>> = {
  ...ofJobOptions(),
  groups: NOTHING,
  in: { kind: 'files' },
  jobs: liveList('jobs:active'),
  'simulate jobs': NOTHING,
  outcome: words(OUTCOME_FILTERS),
  policy: words(PLANNING_POLICIES),
  role: words(ROLES),
  running: words(RUNNING_POLICIES),
  signal: words(Object.keys(SIGNALS)),
  sort: words(JOB_ORDERS),
  'schedule node': liveList('nodes'),
  state: words(STATE_WORDS),
  'history state': words(['active', 'done']),
  'kill state': words([...TASK_STATES.filter((state) => state !== 'done'), 'held']),
  user: live('users'),
  users: liveList('users'),
};

/** What a value that is written so is, whatever the option. */
const PLACEHOLDERS: Readonly<Record<string, Value>> = {
  file: { kind: 'files' },
  dir: { kind: 'folders' },
  directory: { kind: 'folders' },
  folder: { kind: 'folders' },
  format: words(FORMAT_WORDS),
};

/** What an option's value may be. */
export function valueOfOption(path: string, option: Option, wings: readonly HookWing[]): Value {
  if (option.argChoices) return words(option.argChoices);
  const name = option.attributeName();
  const placeholder = /[<[]([^>\].]+)/.exec(option.flags)?.[1] ?? '';
  return (
    OPTIONS[`${path} ${name}`] ??
    PLACEHOLDERS[placeholder] ??
    OPTIONS[name] ??
    asked(wings, 'options', name)
  );
}

/** Which jobs a command can do something to; the others take any. */
const JOBS: Readonly<Record<string, Live>> = {
  kill: 'jobs:active',
  hold: 'jobs:free',
  release: 'jobs:held',
  suspend: 'jobs:running',
  resume: 'jobs:suspended',
  requeue: 'jobs:started',
  wait: 'jobs:active',
  why: 'jobs:active',
  change: 'jobs:pending',
};

const OPERANDS: Readonly<Record<string, Value>> = {
  arguments: { kind: 'files' },
  command: { kind: 'files' },
  file: { kind: 'files' },
  id: live('tokens'),
  maintenance: live('maintenance'),
  name: live('users'),
  node: live('nodes'),
  partition: live('partitions'),
  qos: live('qos'),
  reservation: live('reservations'),
  script: { kind: 'files' },
  shell: words(['bash', 'zsh', 'fish']),
  trace: { kind: 'files' },
};

/** What an operand may be; `typed` is its beginning. */
export function valueOfOperand(
  { path, wings }: { readonly path: string; readonly wings: readonly HookWing[] },
  argument: Argument,
  typed: string,
): Value {
  const name = argument.name();
  if (name === 'job') return live(JOBS[path] ?? 'jobs');
  if (name === 'settings') return settings(typed);
  if (path === 'user create') return NOTHING;
  return OPERANDS[name] ?? asked(wings, 'operands', name);
}

/** What a wing knows of this name. */
function asked(wings: readonly HookWing[], kind: 'operands' | 'options', name: string): Value {
  for (const { cli } of wings) {
    const found = cli?.completions?.[kind]?.[name];
    if (found !== undefined) return { kind: 'live', ...found };
  }
  return NOTHING;
}

/** `policy=easy` of `weft partition set`. */
function settings(typed: string): Value {
  const [name = '', value] = typed.split('=');
  if (value === undefined) return words(CHANGEABLE.map((word) => `${word}=`));
  const field = PARTITION_FIELDS.find((one) => one.name === name);
  return words((field?.choices ?? []).map((choice) => `${name}=${choice}`));
}
