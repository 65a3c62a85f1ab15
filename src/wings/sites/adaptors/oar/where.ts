// Where the user of a job of OAR wants it to run: what a plan can keep to, and what none of ours
// can. OAR takes conditions in SQL, and puts those of its own rules around them.

import type { SiteWhere } from '../../../../kernel/model/site.ts';
import { textOf } from '../read.ts';

type Listed = Readonly<Record<string, unknown>>;

/** A string: what no plan of ours keeps to, in words. */
export function whereOf(listed: Listed): SiteWhere | string | undefined {
  const options = typedOptions(listed);
  if (options.some((words) => TYPE.test(words))) return refusalTextOf('a type (oarsub -t)');
  const wanted = textOf(listed.wanted_resources) ?? '';
  const shape = shapeProblem(wanted);
  if (shape !== null) return refusalTextOf(shape);
  const typed = typedText(options);
  // Braces that are not understood are asked at the start, and let a job wait that they keep from
  // its nodes.
  const [, braces = ''] = /\{(.*?)\}\//.exec(wanted) ?? [];
  const ofBraces = ownCondition(braces, typed);
  const inBraces = ofBraces === null ? null : nodesOf(ofBraces);
  if (!options.some((words) => PROPERTY.test(words))) return together(inBraces, null);
  const own = ownCondition(textOf(listed.properties) ?? '', typed);
  const named = own === null ? null : nodesOf(own);
  if (named === null) return refusalTextOf('conditions (oarsub -p) that name more than nodes');
  return together(inBraces, named);
}

function refusalTextOf(what: string): string {
  return `it asks for ${what}, which Weft does not plan; given again without that, it is planned`;
}

/** In all forms that `oarsub` takes: `-p x`, `-px`, `-Sp x`, `--property x`, `--prop=x`. */
const PROPERTY = /\s(-[IhSXYJDkVv]*p|--prop(e(r(ty?)?)?)?[\s=])/;
const TYPE = /\s(-[IhSXYJDkVv]*t|--t(y(pe?)?)?[\s=])/;

/**
 * Conditions that rules of the site add to all jobs are not in what its user has typed: that is its
 * words in a line, and with `-S` the lines for OAR in its script behind it. A word of its name or
 * program is none.
 */
function typedOptions(listed: Listed): readonly string[] {
  const typed = textOf(listed.initial_request) ?? '';
  const [program, name] = [textOf(listed.command) ?? '', textOf(listed.name) ?? ''];
  const [line = '', ...ofScript] = typed.split('; #OAR');
  const options = line.endsWith(program) ? line.slice(0, line.length - program.length) : line;
  const unnamed = name === '' ? options : options.replace(` -n ${name}`, '');
  return [unnamed, ...ofScript];
}

/** Quotes and blanks are lost on the way through a shell or a script. */
function typedText(options: readonly string[]): string {
  return bare(options.join(' '));
}

function bare(text: string): string {
  return text.replaceAll(/[\s"'\\]/g, '');
}

/** Levels of OAR that lie within a node, and the node itself. */
const LEVEL = /^(network_address|host|cpu|core|resource_id|thread)=[1-9]\d*$/;

/** What of the wanted amounts a plan of so many cores and nodes does not have; null: nothing. */
function shapeProblem(wanted: string): string | null {
  // The first of several alternatives counts.
  const [first = ''] = wanted.split(/" (?=-l )/);
  const amounts = first.replaceAll(/\{.*?\}(?=\/)/g, '').replace(/^-l\s*"?/, '');
  if (amounts.includes('+')) return 'several groups of resources (oarsub -l A+B)';
  const levels = amounts.replace(/,.*$/s, '').split('/').slice(1);
  const other = levels.map((level) => level.replace(/["\s]+$/, '')).find((l) => !LEVEL.test(l));
  return other === undefined ? null : `${other} (oarsub -l)`;
}

/**
 * What of a condition its user has typed: OAR's rules make `(X) AND more` of it, each of them once
 * more. The largest such part counts, so that what is found is all of it. Null: none is found.
 */
function ownCondition(condition: string, typed: string): string | null {
  let own = condition.trim();
  while (own !== '') {
    if (typed.includes(bare(own))) return own;
    const end = closing(own);
    if (end === null || !/^\s+AND\s/i.test(own.slice(end + 1))) return null;
    own = own.slice(1, end).trim();
  }
  return null;
}

/** Where the bracket at the beginning of the text is closed; null: there is none. */
function closing(text: string): number | null {
  if (!text.startsWith('(')) return null;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "'") isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (letter === '(') depth += 1;
    if (letter === ')') depth -= 1;
    if (depth === 0) return at;
  }
  return null;
}

const NAME = "'([A-Za-z0-9][A-Za-z0-9._-]*)'";
const NODE = '(?:network_address|host)';
const IS = new RegExp(`^${NODE}\\s*=\\s*${NAME}$`, 'i');
const IS_NOT = new RegExp(`^${NODE}\\s*(?:!=|<>)\\s*${NAME}$`, 'i');
const AMONG = new RegExp(
  `^${NODE}\\s+(not\\s+)?in\\s*\\(\\s*(${NAME}(?:\\s*,\\s*${NAME})*)\\s*\\)$`,
  'i',
);

/** Returns null when it is about more than the names of nodes. */
function nodesOf(condition: string): SiteWhere | null {
  const text = unwrapped(condition);
  const either = split(text, 'or');
  if (either.length > 1) {
    const parts = either.map(nodesOf);
    const only = parts.map((part) => (part?.not === undefined ? part?.only : undefined));
    return only.every((names) => names !== undefined) ? { only: [...new Set(only.flat())] } : null;
  }
  const all = split(text, 'and');
  if (all.length > 1) {
    const parts = all.map(nodesOf);
    return parts.reduce((sum, part) => (sum === null || part === null ? null : both(sum, part)));
  }
  const [, is] = IS.exec(text) ?? [];
  if (is !== undefined) return { only: [is] };
  const [, isNot] = IS_NOT.exec(text) ?? [];
  if (isNot !== undefined) return { not: [isNot] };
  const [, not, list = ''] = AMONG.exec(text) ?? [];
  const names = [...list.matchAll(new RegExp(NAME, 'g'))].map(([, name = '']) => name);
  if (names.length === 0) return null;
  return not === undefined ? { only: names } : { not: names };
}

function unwrapped(condition: string): string {
  const text = condition.trim();
  return closing(text) === text.length - 1 ? unwrapped(text.slice(1, -1)) : text;
}

/** At a word that is in no bracket and in no quotes. */
function split(text: string, word: 'and' | 'or'): string[] {
  const parts: string[] = [];
  let [depth, begin, isQuoted] = [0, 0, false];
  const boundary = new RegExp(`^${word}(?=[\\s(])`, 'i');
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at];
    if (letter === "'") isQuoted = !isQuoted;
    if (!isQuoted && letter === '(') depth += 1;
    if (!isQuoted && letter === ')') depth -= 1;
    const isFree = !isQuoted && depth === 0 && /[\s)]/.test(text[at - 1] ?? '');
    if (!isFree || !boundary.test(text.slice(at, at + word.length + 1))) continue;
    parts.push(text.slice(begin, at));
    begin = at + word.length;
  }
  return [...parts, text.slice(begin)];
}

function both(one: SiteWhere, other: SiteWhere): SiteWhere {
  const not = [...(one.not ?? []), ...(other.not ?? [])];
  const lists = [one.only, other.only].filter((names) => names !== undefined);
  const only = lists.reduce<readonly string[] | null>((sum, names) => {
    return sum === null ? names : sum.filter((name) => names.includes(name));
  }, null);
  return { ...(only === null ? {} : { only }), ...(not.length === 0 ? {} : { not }) };
}

function together(one: SiteWhere | null, other: SiteWhere | null): SiteWhere | undefined {
  const where = both(one ?? {}, other ?? {});
  return Object.keys(where).length === 0 ? undefined : where;
}
