// A row of the table of job options: everything that a face of Weft has to know of an option.

import type { OptionType } from './types.ts';

/** Words that only the head knows, for completion. */
export type Offered = 'jobs' | 'labels' | 'nodes' | 'partitions' | 'qos' | 'reservations';

export interface OptionRow {
  /** The words of a command line: `-n, --nodes <count>`. */
  readonly flags: string;
  /** In a command's help. */
  readonly words: string;
  /** The option may be given more than once. */
  readonly many?: true;
  /** The field of a submission that it is; absent: one that is made of several options. */
  readonly field?: string;
  /** How the field is read. There is one where there is a field. */
  // biome-ignore lint/suspicious/noExplicitAny: of all kinds; `OPTIONS` knows which.
  readonly type?: OptionType<any, any>;
  /** The option applies to workers of a pool, too. */
  readonly pool?: true;
  /** `weft change` changes it. Absent: nobody does. */
  readonly change?: Change;
  /** The machine keeps its value in the job's specification as it is, and shows it. */
  readonly kept?: Kept;
  /** The option's name in `#SBATCH` lines, the short one behind the long one. */
  readonly sbatch?: string;
  /** More names of it elsewhere, for those who type them here. */
  readonly theirs?: string;
  /** The form of the web page has a field for it. */
  readonly form?: { readonly label: string; readonly hint: string };
  /** Jobs of batch files have a key of its name. */
  readonly batch?: InBatches;
  /** What completes its value, beside the words of a choice. */
  readonly offers?: Offered | readonly string[];
}

export interface InBatches {
  readonly words: string;
  /** What a wrong number is told to be, where its bounds do not say it well. */
  readonly expected?: string;
  /** The least number, where that is another than elsewhere. */
  readonly least?: number;
}

export interface Change {
  /** Running tasks have been told its value: it changes only while none runs. */
  readonly while: 'pending' | 'running';
  /** In the help of `weft change`, where that says something else. */
  readonly words?: string;
  /** The text `none` takes the value away: null. */
  readonly none?: true;
}

/** What stands in a specification when a submission does not name the option. */
export type Kept =
  | { readonly default: unknown }
  /** Nothing, and neither for this value. */
  | { readonly omit: unknown }
  /** Nothing; shown as the title says. */
  | { readonly title: string };
