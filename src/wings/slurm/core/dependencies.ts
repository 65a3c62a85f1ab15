// The jobs that `--dependency` names, as our `--after` has them.

import { bad } from './bad.ts';
import type { Given } from './batch-options.ts';

const CONDITIONS: Readonly<Record<string, string>> = {
  afterok: 'ok',
  afterany: 'any',
  afternotok: 'fail',
  aftercorr: 'each',
  after: 'start',
};

/** Kinds are in any letters; a number alone is the old form, of which any end will do. */
function conditionsOf(text: string): string[] {
  return text.split(',').map((one) => {
    const [kind = '', ...ids] = one.trim().split(':');
    return ids.length === 0 && /^\d/.test(kind)
      ? `afterany:${kind}`
      : [kind.toLowerCase(), ...ids].join(':');
  });
}

export function isSingleton({ dependency = '' }: Given): boolean {
  return conditionsOf(dependency).includes('singleton');
}

export function dependencies(text: string): string[] {
  if (text.includes('?')) bad('--dependency with ? is not honoured here: all of them must be met');
  return conditionsOf(text).flatMap((one) => {
    const [kind = '', ...ids] = one.split(':');
    if (one === 'singleton') return [];
    const condition = Object.hasOwn(CONDITIONS, kind) ? CONDITIONS[kind] : undefined;
    if (condition === undefined) {
      bad(
        `--dependency ${one} is not honoured here: there are ${Object.keys(CONDITIONS).join(', ')}, singleton`,
      );
    }
    return ids.length === 0
      ? bad('Job dependency problem')
      : ids.map((id) => dependency(id, condition));
  });
}

/** `42`, `42_*`, and of `after` `42+10`, in minutes. */
function dependency(text: string, condition: string): string {
  const [, id, minutes] = /^(\d{1,15})(?:_\*)?(?:\+(\d{1,6}))?$/.exec(text) ?? [];
  if (/^\d+_\d+$/.test(text))
    return bad(`--dependency on ${text} is not honoured here: name the whole array`);
  if (id === undefined || (minutes !== undefined && condition !== 'start'))
    return bad('Job dependency problem');
  return `${id}:${condition}${minutes === undefined ? '' : `+${minutes}m`}`;
}
