// The table of job options: flags of `weft run`, `weft submit` and `#WEFT` lines, options of the
// library, fields of a submission. What each face has to know of an option is in its row.

import { COURSE } from './course.ts';
import { IDENTITY } from './identity.ts';
import { NEEDS } from './needs.ts';
import type { OptionRow } from './row.ts';
import { SURROUNDINGS } from './surroundings.ts';
import { TASKS } from './tasks.ts';
import type { OptionType } from './types.ts';

/** By its name, which is that of the library where it has one. */
export const OPTIONS = {
  ...IDENTITY,
  ...NEEDS,
  ...COURSE,
  ...TASKS,
  ...SURROUNDINGS,
} as const;

/** Parts of the help of a command, which is too long to be read as one list. */
export const HELP_GROUPS: readonly (readonly [title: string, rows: Rows])[] = [
  ['The job:', IDENTITY],
  ['What it needs:', NEEDS],
  ['When it starts, and how it may end:', COURSE],
  ['Many tasks:', TASKS],
  ['Files, output, variables:', SURROUNDINGS],
];

type Rows = Readonly<Record<string, OptionRow>>;
type Table = typeof OPTIONS;

declare module '../job.ts' {
  interface JobSpec extends KeptValues {}
}

export type OptionName = keyof Table;

/** The options that are a field of a submission each. */
export type FieldOption = {
  [N in OptionName]: Table[N] extends { readonly field: string } ? N : never;
}[OptionName];
type FieldOf<N extends FieldOption> = Table[N]['field'];
type ValueOf<N extends FieldOption> =
  Table[N]['type'] extends OptionType<infer V, infer _> ? V : never;
type GivenOf<N extends FieldOption> =
  Table[N]['type'] extends OptionType<infer _, infer P> ? P : never;

/** The options that have this in their rows. */
type With<Column> = {
  [N in FieldOption]: Table[N] extends Column ? N : never;
}[FieldOption];

/** Fields of a submission, with their values. */
export type FieldValues = { readonly [N in FieldOption as FieldOf<N>]: ValueOf<N> };
export type FieldName = keyof FieldValues;

/** Options as a program gives them. */
export type ProgramOptions = { readonly [N in FieldOption]?: GivenOf<N> };

/** Options that describe a worker of a pool, and their fields. */
export type PoolOption = With<{ readonly pool: true }>;
export type PoolField = FieldOf<PoolOption>;

/** Options that have a field in the form of the web page. */
export type FormOption = With<{ readonly form: object }>;
export type FormField = FieldOf<FormOption>;

/** Options that are keys of batch files. Sizes and spans are words there, numbers numbers. */
export type BatchOption = With<{ readonly batch: object }>;
export type WrittenOptions<Word> = {
  readonly [N in BatchOption]?: GivenOf<N> extends number
    ? number
    : string | number extends GivenOf<N>
      ? Word
      : string;
};

/** Fields that `weft change` changes. */
export type ChangeValues = {
  readonly [N in With<{ readonly change: object }> as FieldOf<N>]?:
    | ValueOf<N>
    | (Table[N] extends { readonly change: { readonly none: true } } ? null : never);
};

/** Fields that a specification keeps as they are. */
export type KeptValues = {
  readonly [N in With<{ readonly kept: { readonly default: unknown } }> as FieldOf<N>]: ValueOf<N>;
} & {
  readonly [N in With<{ readonly kept: { readonly title: string } }> as FieldOf<N>]?: ValueOf<N>;
} & {
  readonly [N in With<{ readonly kept: { readonly omit: unknown } }> as FieldOf<N>]?: Exclude<
    ValueOf<N>,
    OmittedOf<N>
  >;
};
/** The same as programs are shown them. */
export type ShownValues = {
  readonly [N in With<{ readonly kept: { readonly default: unknown } }> as FieldOf<N>]: ValueOf<N>;
} & {
  readonly [N in With<{ readonly kept: { readonly omit: unknown } }> as FieldOf<N>]: ValueOf<N>;
} & {
  readonly [N in With<{
    readonly kept: { readonly title: string };
  }> as FieldOf<N>]: ValueOf<N> | null;
};
type OmittedOf<N extends FieldOption> = Table[N] extends {
  readonly kept: { readonly omit: infer O };
}
  ? O
  : never;

/** A row that is a field of a submission. */
export type FieldRow = OptionRow &
  Required<Pick<OptionRow, 'field' | 'type'>> & {
    readonly name: FieldOption;
  };

/** All rows, in the order of the help. */
export const ROWS: readonly (OptionRow & { readonly name: OptionName })[] =
  Object.entries<OptionRow>(OPTIONS).map(([name, row]) => ({ ...row, name: name as OptionName }));

export const FIELD_ROWS: readonly FieldRow[] = ROWS.filter(
  (row): row is FieldRow => row.field !== undefined && row.type !== undefined,
);

/** A key of batch files. */
export type BatchRow = FieldRow &
  Required<Pick<FieldRow, 'batch'>> & { readonly name: BatchOption };

export const BATCH_ROWS: readonly BatchRow[] = FIELD_ROWS.filter(
  (row): row is BatchRow => row.batch !== undefined,
);

/** The word of a command line: `--nodes`. */
export function flagOf({ flags }: OptionRow): string {
  return /--[a-z-]+/.exec(flags)?.[0] ?? flags;
}

/** What `weft change` changes while tasks of the job run, in words. */
export const CHANGED_WHILE_RUNNING = [
  ...FIELD_ROWS.filter(({ change }) => change?.while === 'running').map(flagOf),
  '--at-once, --hold and --release',
].join(', ');

/** The name under which commander leaves what was typed: `requeue` of `--no-requeue`. */
export function attributeOf(row: OptionRow): string {
  const name = flagOf(row).replace(/^--(no-)?/, '');
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

type LongOf<F extends string> = F extends `${string}--${infer R}`
  ? R extends `${infer N} ${string}`
    ? N
    : R
  : never;
type Camel<S extends string> = S extends `${infer A}-${infer B}`
  ? `${A}${Capitalize<Camel<B>>}`
  : S;
type AttributeOf<F extends string> =
  LongOf<F> extends `no-${infer N}` ? Camel<N> : Camel<LongOf<F>>;

/** Options as commander leaves them: camel case, texts as typed. */
export type TypedOptions = {
  readonly [N in OptionName as AttributeOf<Table[N]['flags']>]?: Table[N] extends {
    readonly many: true;
  }
    ? readonly string[]
    : Table[N]['flags'] extends `${string}<${string}`
      ? string
      : boolean;
};
