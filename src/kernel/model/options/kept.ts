// Options that a specification keeps as the submission has them, because nothing but their type
// says what they may be: their defaults, their checks, and how they are shown.

import type { JobSpec } from '../job.ts';
import type { Submission } from '../submission.ts';
import type { Kept } from './row.ts';
import { FIELD_ROWS, type FieldRow, type KeptValues, type ShownValues } from './table.ts';

type Row = FieldRow & { readonly kept: Kept };
type Values = Readonly<Record<string, unknown>>;

const ROWS: readonly Row[] = FIELD_ROWS.filter((row): row is Row => row.kept !== undefined);

/** The values of a submission that it is to have, with the defaults. Throws what `wrong` makes. */
export function keptOf(wish: Submission, wrong: (what: string) => never): KeptValues {
  return collect(({ kept, field, type }) => {
    const value = (wish as unknown as Values)[field] ?? defaultOf(kept);
    const flaw = value === undefined ? null : type.flaw(value);
    if (flaw !== null) wrong(`${field}: ${flaw}`);
    return 'omit' in kept && value === kept.omit ? undefined : value;
  }) as KeptValues;
}

/** The values of a specification, for a submission that says the same. */
export function keptBy(spec: JobSpec): KeptValues {
  return collect(({ field }) => (spec as unknown as Values)[field]) as KeptValues;
}

/** Those of them that `weft change` changes while tasks run. */
export function changingOf(spec: JobSpec): Partial<KeptValues> {
  return collect(({ field, change }) => {
    return change?.while === 'running' ? (spec as unknown as Values)[field] : undefined;
  });
}

/** The values as programs are shown them: nothing is left out. */
export function shownOf(spec: KeptValues): ShownValues {
  return collect(({ field, kept }) => {
    return (spec as Values)[field] ?? ('omit' in kept ? kept.omit : null);
  }) as ShownValues;
}

/** What people are told of a job: titles with words, those alone that somebody gave. */
export function keptTitles(shown: object): (readonly [title: string, words: string])[] {
  return ROWS.flatMap(({ kept, field }) => {
    const value = (shown as Values)[field];
    return 'title' in kept && value != null ? [[kept.title, String(value)] as const] : [];
  });
}

function defaultOf(kept: Kept): unknown {
  return 'default' in kept ? kept.default : undefined;
}

function collect(pick: (row: Row) => unknown): Values {
  const pairs = ROWS.map((row) => [row.field, pick(row)] as const);
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}
