// Names of hosts in brackets, as `n[1-3,7]`.

const RANGE = /^(\d+)(?:-(\d+))?$/;
/** A slip of the finger must not take all memory. */
const NAMES_MAX = 100_000;

/** Returns null when it cannot be read. */
export function expandHosts(text: string): string[] | null {
  if (!/^(?:[^[\]]|\[[^[\]]*\])*$/.test(text)) return null;
  const names: string[] = [];
  for (const word of text.match(/(?:[^,[\]]|\[[^\]]*\])+/g) ?? []) {
    const [, before = word, inside, behind = ''] =
      /^([^[\]]*)\[([^\]]*)\]([^[\]]*)$/.exec(word) ?? [];
    if (inside === undefined) {
      names.push(word.trim());
      continue;
    }
    for (const range of inside.split(',')) {
      const [, from = '', to = from] = RANGE.exec(range) ?? [];
      const more = Number(to) - Number(from);
      if (from === '' || more < 0 || more > NAMES_MAX) return null;
      for (let at = Number(from); at <= Number(to); at++) {
        names.push(`${before}${String(at).padStart(from.length, '0')}${behind}`);
      }
    }
  }
  return names.length > NAMES_MAX || names.some((name) => /[[\]\s]/.test(name)) ? null : names;
}

/** The shortest that names the same hosts, by the numbers at their ends. */
export function compressHosts(names: readonly string[]): string {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const [, stem = name, digits = ''] = /^(.*?)(\d*)$/.exec(name) ?? [];
    const key = `${stem}/${digits.startsWith('0') ? digits.length : digits === '' ? '' : 'n'}`;
    groups.set(key, [...(groups.get(key) ?? []), digits]);
  }
  return [...groups]
    .map(([key, digits]) => grouped(key.slice(0, key.lastIndexOf('/')), digits))
    .join(',');
}

/** The same without another order: which is first, and which next, is kept. */
export function hostsInOrder(names: readonly string[]): string {
  const runs: string[][] = [];
  for (const name of names) {
    const last = runs.at(-1);
    if (last !== undefined && isNext(last.at(-1) ?? '', name)) last.push(name);
    else runs.push([name]);
  }
  return runs.map(compressHosts).join(',');
}

function isNext(before: string, name: string): boolean {
  const [, stem, digits = ''] = /^(.*?)(\d*)$/.exec(before) ?? [];
  const [, nextStem, next = ''] = /^(.*?)(\d*)$/.exec(name) ?? [];
  return digits !== '' && stem === nextStem && Number(next) === Number(digits) + 1;
}

function grouped(stem: string, digits: readonly string[]): string {
  const sorted = digits.toSorted((a, b) => Number(a) - Number(b));
  if (sorted.length === 1) return `${stem}${sorted[0]}`;
  const ranges: [first: string, last: string][] = [];
  for (const digit of sorted) {
    const last = ranges.at(-1);
    if (last !== undefined && Number(digit) === Number(last[1]) + 1) last[1] = digit;
    else ranges.push([digit, digit]);
  }
  const inside = ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`));
  return `${stem}[${inside.join(',')}]`;
}
