// Lists of ClassAds as JSON. condor_q and condor_status print nothing at all where there is none;
// condor_history prints an empty list.

import { ok, type Result } from '../../../../kernel/base/result.ts';
import type { SiteOutput, SiteProblem } from '../adaptor.ts';
import { parseJson, recordsOf, textOf, unreadable } from '../read.ts';
import { failure } from './failure.ts';

export type Ad = Readonly<Record<string, unknown>>;

export function adsIn(program: string, output: SiteOutput): Result<readonly Ad[], SiteProblem> {
  if (output.code !== 0) return failure(program, output);
  if (output.stdout.trim() === '') return ok([]);
  const ads = recordsOf(parseJson(output.stdout));
  return ads === null ? unreadable(program, 'its answer is no JSON list of ads') : ok(ads);
}

/** What is not a value but is still to be computed comes as `/Expr(…)/`. */
export function wordOf(value: unknown): string | null {
  const text = textOf(value);
  return text?.startsWith('/Expr(') === true ? null : text;
}

/** Machines as in `slot1_1@n1,slot1@n2`. */
export function machinesIn(text: string | null): readonly string[] {
  const names = (text ?? '').split(/[, ]+/).map((slot) => slot.replace(/^.*@/, ''));
  return [...new Set(names.filter((name) => name !== ''))];
}
