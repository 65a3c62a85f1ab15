// Where the user of a job of Grid Engine wants it to run: what a plan can keep to, and what none of
// ours can.

import type { SiteWhere } from '../../../../kernel/model/site.ts';
import { notPlanned } from '../read.ts';
import { below, type Element } from './xml.ts';

export interface PlannedWords {
  /** Requests for this complex hold the words that let a job start. */
  readonly ticket: string;
  /** Parallel environments that are known. */
  readonly environments: readonly string[];
}

/** Limits that hosts keep, on whichever it runs; and what is read elsewhere. */
const ANYWHERE = /^([hs]_(rt|cpu|vmem|rss|fsize|data|stack|core)|exclusive)$/;
const NAME = /^[A-Za-z0-9_.-]+$/;

/** A string: what no plan of ours keeps to, in words. */
export function whereOf(listed: Element, words: PlannedWords): SiteWhere | string | undefined {
  const [parallel] = [...below(listed, 'requested_pe')];
  const environment = parallel?.attributes.name ?? '';
  if (parallel !== undefined && !words.environments.includes(environment)) {
    return notPlanned(`the parallel environment ${environment} (site.environment, site.spread)`);
  }
  if (parallel !== undefined && !/^\d+$/.test(parallel.text.trim())) {
    return notPlanned(`a choice of slots (-pe ${environment} ${parallel.text.trim()})`);
  }
  const [hosts, features]: [string[], string[]] = [[], []];
  for (const { attributes, text } of below(listed, 'hard_request')) {
    const { name = '' } = attributes;
    if (name === words.ticket || ANYWHERE.test(name)) continue;
    if (name === 'arch' && NAME.test(text.trim())) {
      features.push(text.trim());
      continue;
    }
    const named = text.trim().split('|');
    if (name !== 'hostname' || !named.every((one) => NAME.test(one))) {
      return notPlanned(`${name}=${text.trim()} (-l)`);
    }
    hosts.push(...named);
  }
  const queues = [...below(listed, 'hard_req_queue')].map(({ text }) => text.trim());
  const at = queues.map((one) => one.split('@'));
  const [isPlain, isPlaced] = [
    at.every((one) => one.length === 1),
    at.every((one) => one.length === 2),
  ];
  if (!at.flat().every((one) => NAME.test(one)) || !(isPlain || isPlaced)) {
    return notPlanned(`${queues.join(', ')} (-q)`);
  }
  const placed = isPlain ? [] : at.map(([, host = '']) => host);
  const only =
    hosts.length > 0 && placed.length > 0
      ? hosts.filter((one) => placed.includes(one))
      : [...hosts, ...placed];
  const where = {
    ...(hosts.length + placed.length === 0 ? {} : { only }),
    ...(features.length === 0 ? {} : { features }),
    ...(queues.length === 0 ? {} : { queues: at.map(([queue = '']) => queue) }),
  };
  return Object.keys(where).length === 0 ? undefined : where;
}
