// What `weft pull` says: rows of its dry run, and the sentence at its end.

import { plural } from '../../base/plural.ts';
import { formatBytes, formatSize } from '../../base/size.ts';
import type { Here, Placed } from '../../transfer/pull/compare.ts';
import type { Column } from '../output/table.ts';
import { formatSpan } from '../output/words.ts';

export interface Row {
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'link';
  readonly size: number;
  readonly here: Here;
}

const HERE: Readonly<Record<Here, string>> = {
  missing: 'no',
  there: 'yes',
  differs: 'another one',
};

export const COLUMNS: readonly Column<Row>[] = [
  {
    title: 'SIZE',
    value: ({ kind, size }) => (kind === 'file' ? formatSize(size) : kind),
    raw: ({ size }) => size,
    align: 'right',
  },
  { title: 'HERE', value: ({ here }) => HERE[here], raw: ({ here }) => here },
  { title: 'FILE', value: ({ path }) => path },
];

export function rowOf({ entry: { kind, size }, shown, here }: Placed): Row {
  return { path: shown, kind, size, here };
}

/** Files, those of them that are to come, and those that are there but other ones. */
export interface Amounts {
  readonly files: number;
  readonly links: number;
  readonly there: number;
  readonly differ: number;
  readonly toFetch: number;
  readonly bytesToFetch: number;
}

export function amountsOf(placed: readonly Placed[]): Amounts {
  const files = placed.filter(({ entry }) => entry.kind === 'file');
  const toFetch = files.filter(({ here }) => here !== 'there');
  return {
    files: files.length,
    links: placed.filter(({ entry }) => entry.kind === 'link').length,
    there: files.length - toFetch.length,
    differ: files.filter(({ here }) => here === 'differs').length,
    toFetch: toFetch.length,
    bytesToFetch: toFetch.reduce((sum, { entry }) => sum + entry.size, 0),
  };
}

/** `3 files with 1.2G to fetch, 5 are here`. */
export function planWords({ toFetch, bytesToFetch, there, differ }: Amounts): string {
  const fetched = `${plural(toFetch, 'file')} with ${formatBytes(bytesToFetch)} to fetch`;
  const over = differ === 0 ? '' : `, over ${differ} that differ`;
  return `${fetched}${over}${there === 0 ? '' : `; ${there} here already`}`;
}

/** Null when there are files; links, which may have been chosen as well, count as such. */
export function noFileWords({ files, links }: Amounts, where: string): string | null {
  return files + links > 0 ? null : `No file matches: only folders are in ${where}.`;
}

/** `Fetched 3 files with 1.2G into 42 in 12s (105M/s).` */
export function doneWords(of: Amounts, where: string, tookMs: number): string {
  const { files, toFetch, bytesToFetch, there, differ } = of;
  if (toFetch === 0) return `${plural(files, 'file')} in ${where}, all as the job left them.`;
  const rate = `${formatBytes(Math.round((bytesToFetch / tookMs) * 1000))}/s`;
  const took = tookMs < 1000 ? '' : ` in ${formatSpan(tookMs)} (${rate})`;
  const fetched = `Fetched ${plural(toFetch, 'file')} with ${formatBytes(bytesToFetch)} into ${where}`;
  const more = [
    ...(differ === 0 ? [] : [`${differ} of them over others that were there`]),
    ...(there === 0 ? [] : [`${there} ${there === 1 ? 'was' : 'were'} there already`]),
  ];
  return `${[`${fetched}${took}`, ...more].join('; ')}.`;
}
