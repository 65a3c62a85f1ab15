// The kernel and its wings: the kernel knows no wing, and a wing knows another only where its own
// `wing.ts` says that it needs it.

import type { Source } from './source.ts';

/** What each wing needs: its name, and the names of other wings. */
export type Houses = ReadonlyMap<string, readonly string[]>;

const WING = /^src\/wings\/([\w-]+)\/wing\.ts$/;
const NEEDS = /\bneeds:\s*\[([^\]]*)\]/;

/** The lists that name every wing, which alone may import all of them. */
export function isList(file: string): boolean {
  return (
    /^src\/(?:wings|library|kernel\/wing)\.ts$|^src\/pages\.tsx$/.test(file) || WING.test(file)
  );
}

/** The wing that this file lists the parts of; undefined for every other file. */
export function wingOfList(file: string): string | undefined {
  return WING.exec(file)?.[1];
}

/** Why a file of this house may not import a list; undefined where it may. */
export function listProblem(from: string, target: string): string | undefined {
  if (!isHouse(from) || !isList(target) || target === 'src/kernel/wing.ts') return undefined;
  return `${target} names wings, and only programs may; take what they give as an argument`;
}

/** Reads what each wing says that it needs. */
export function readHouses(sources: readonly Source[]): Houses {
  const houses = new Map<string, readonly string[]>();
  for (const { path, text } of sources) {
    const name = wingOfList(path);
    if (name === undefined) continue;
    const needs = NEEDS.exec(text)?.[1] ?? '';
    houses.set(
      name,
      [...needs.matchAll(/'([\w-]+)'/g)].map((one) => one[1] ?? ''),
    );
  }
  return houses;
}

/** Why a file of one house may not import a file of another; undefined where it may. */
export function houseProblem(from: string, to: string, houses: Houses): string | undefined {
  if (from === to || !isHouse(from) || to === 'kernel') return undefined;
  if (to === 'bin') return `${from} may not import bin, which starts it; take it as an argument`;
  if (!isHouse(to)) return undefined;
  if (from === 'kernel') {
    return `the kernel knows no wing, and this names '${to}'; ask by a hook of src/kernel/wing.ts`;
  }
  if (houses.get(from)?.includes(to)) return undefined;
  return `wing '${from}' does not say that it needs '${to}'; do without, or say so in its wing.ts`;
}

/** The kernel or a wing: what stands outside may know anybody. */
function isHouse(house: string): boolean {
  return !['bin', 'sim', 'tools', 'test', 'bench', 'launcher', 'examples'].includes(house);
}
