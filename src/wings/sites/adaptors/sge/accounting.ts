// How jobs ended, as `qacct` has it. Grid Engine gives a job that was deleted by force from a host
// that does not answer a record of an end with code 0 and no usage at all: that is no evidence.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteEnd } from '../../../../kernel/model/site.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { instantOfCtime, unreadable } from '../read.ts';
import { failure } from './failure.ts';

/** @param job `53`, or `48.2` */
export function endCommand(job: string) {
  const [number = job, task] = job.split('.');
  return { argv: ['qacct', '-j', number, ...(task === undefined ? [] : ['-t', task])] };
}

/**
 * The last of several records, which a job has that was run again.
 * @param environment of parallel jobs, which gives all slots on one host; null: none is known
 */
export function readEnd(
  output: SiteOutput,
  environment: string | null,
): Result<SiteEnd | null, SiteProblem> {
  if (output.code !== 0) {
    return /job id \S+ not found/.test(output.stderr) ? ok(null) : failure('qacct', output);
  }
  return endIn(output.stdout.split(/^=+$/m).map(fieldsOf), environment);
}

/** Ends of the elements that have a record. */
export function readEnds(
  output: SiteOutput,
  environment: string | null,
): Result<ReadonlyMap<number, SiteEnd>, SiteProblem> {
  const none = output.code !== 0 ? readEnd(output, environment) : null;
  if (none !== null) return none.ok ? ok(new Map()) : none;
  const byTask = new Map<number, Fields[]>();
  for (const text of output.stdout.split(/^=+$/m)) {
    const fields = fieldsOf(text);
    const index = Number(fields.get('taskid'));
    if (Number.isInteger(index)) byTask.set(index, [...(byTask.get(index) ?? []), fields]);
  }
  const ends = new Map<number, SiteEnd>();
  for (const [index, records] of byTask) {
    const end = endIn(records, environment);
    if (!end.ok) return end;
    if (end.value !== null) ends.set(index, end.value);
  }
  return ok(ends);
}

function endIn(
  records: readonly Fields[],
  environment: string | null,
): Result<SiteEnd | null, SiteProblem> {
  const fields = records.at(-1) ?? new Map<string, string>();
  const status = /^\d+/.exec(fields.get('exit_status') ?? '')?.[0];
  const endedAt = instantOfCtime(fields.get('end_time'));
  if (status === undefined || endedAt === null) {
    return unreadable('qacct', 'a record has no exit_status and end_time');
  }
  if (hasUsedNothing(fields)) return ok(null);
  const failed = /^(\d+)\s*(?::\s*(.*))?$/.exec(fields.get('failed') ?? '');
  const isByItself = failed?.[1] === '0';
  return ok({
    startedAt: instantOfCtime(fields.get('start_time')),
    endedAt,
    exit: exitOf(Number(status)),
    reason: isByItself ? null : (failed?.[2] ?? 'it failed'),
    ...nodesOf(fields, records, environment),
  });
}

type Fields = ReadonlyMap<string, string>;

function fieldsOf(record: string): Fields {
  return new Map(
    record.split('\n').map((line) => {
      const [, name = '', value = ''] = /^(\S+)\s+(.*?)\s*$/.exec(line) ?? [];
      return [name, value] as const;
    }),
  );
}

/** Any process that ran has had some memory. */
function hasUsedNothing(fields: Fields): boolean {
  const used = ['ru_maxrss', 'ru_utime', 'ru_stime', 'cpu'].map((name) => fields.get(name) ?? '');
  return used.every((value) => /^0*(\.0*)?\D*$/.test(value));
}

/**
 * Nodes of a job. The record of a parallel job has only the first of them. Where Grid Engine sums
 * nothing up (`accounting_summary FALSE`), each command that such a job has begun on another host
 * has its own record.
 */
function nodesOf(
  fields: Fields,
  records: readonly Fields[],
  environment: string | null,
): Pick<SiteEnd, 'nodes' | 'firstNode' | 'namedNodes'> {
  const host = fields.get('hostname') ?? '';
  if (host === '') return {};
  const granted = fields.get('granted_pe');
  const isAlone = granted === 'NONE' || granted === environment || fields.get('slots') === '1';
  if (isAlone) return { nodes: [host] };
  const beside = records.filter((one) => isBeside(one, fields));
  const hosts = beside.map((one) => one.get('hostname') ?? '').filter((one) => one !== '');
  return { firstNode: host, namedNodes: [...new Set([host, ...hosts])] };
}

/** Whether it is of the same run: one that was over before belongs to a run that was taken back. */
function isBeside(one: Fields, last: Fields): boolean {
  if (one.get('taskid') !== last.get('taskid')) return false;
  const [endedAt, startedAt] = [
    instantOfCtime(one.get('end_time')),
    instantOfCtime(last.get('start_time')),
  ];
  return endedAt !== null && startedAt !== null && endedAt > startedAt;
}

/** A shell's way of telling a signal, as Grid Engine has it. */
function exitOf(status: number): SiteEnd['exit'] {
  return status > 128 && status <= 128 + 64 ? { signal: status - 128 } : { code: status };
}
