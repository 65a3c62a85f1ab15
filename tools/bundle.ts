// The programs of a package, each whole in one file: Node.js takes longer to find, read and link a
// hundred modules than a short command takes to run.

import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'rolldown';
import { QUICK } from '../src/kernel/cli/quick.ts';
import { WINGS } from '../src/wings.ts';
import { bundle } from './bundler.ts';
import { licenceOf } from './manifest.ts';
import { ownPlaces } from './own-places.ts';
import { ROOT } from './tree.ts';

const BIN = path.join('dist', 'bin');
/** Programs of their own, which daemons start too, and what reads records as a head does. */
const APART = /^\.\/(head|agent-host|read-store)\.ts$/;
/** A bundle beside another. */
const LINES = /^\.\/lines\.ts$/;
/** Parts of wings that other programs than these ask for, by their places in a wing. */
const PART_ELSEWHERE = /^\.\/(?:head\/part|bin\/head|api\/part)\.ts$/;
/** Files of verbs: the kernel's by their names, and those of wings. */
const COMMAND = /\/(?:commands\/([\w-]+)|(?:([\w-]+)-)?verb)\.ts$/;
/** Where wings say what they have; each is loaded when it is asked for. */
const WING = /\/wings\/[\w-]+\/wing\.ts$/;
/** What of it the daemons ask for, which are programs of their own. */
const OF_DAEMONS = /^\.\/(?:head|agent|machine)\//;
/** Parts that only `doctor`, `init`, completion, other programs and starters of daemons ask for. */
const SELDOM = /^\.\/(?:.*\/(?:doctor|offers|templates|[\w-]+-(?:options|check))|bin\/[\w-]+)\.ts$/;
/** Programs of wings. */
const PROGRAMS = new Set(WINGS.flatMap(({ cli }) => Object.keys(cli?.programs ?? {})));
/** Verbs of wings: a bundle has those that are typed by themselves where it has their name. */
const VERBS = new Set(WINGS.flatMap(({ cli }) => cli?.verbs ?? []).map(({ name }) => name));
/** What only `weft` asks for: verbs within others, and the lines of a script for `weft submit`. */
const ELSEWHERE = new Set([
  ...WINGS.flatMap(({ cli }) => cli?.innerVerbs ?? []).map(({ name }) => name),
  'script-lines',
]);
/** Asks wings for what is for daemons, and would not find it from inside a bundle. */
const NOT_INSIDE = 'src/bin/machine.ts';
const CHILD_PROCESS = "import childProcess from 'node:child_process';";

/** Whether a command of `weft`, or a program, is in a bundle: the others are never asked of it. */
type IsIn = (command: string) => boolean;

/**
 * Writes `dist/bin/programs.cjs`, with everything, `quick.cjs` and its words, a file for each
 * program that is typed all day, and `lines.cjs`, which these load for lines of `weft` that they
 * run.
 */
export async function bundlePrograms(): Promise<void> {
  const often = WINGS.filter(({ cli }) => cli?.often !== undefined);
  const named = new Set(often.flatMap(({ cli }) => Object.keys(cli?.programs ?? {})));
  const lines = new Set(often.flatMap(({ cli }) => cli?.often ?? []));
  await write('programs', () => true);
  await write('quick', (command) => QUICK.has(command), KEPT);
  writeFileSync(path.join(ROOT, BIN, 'quick.json'), `${JSON.stringify([...QUICK])}\n`);
  for (const program of named) {
    const how = { ...KEPT, beside: LINES, from: 'often' };
    await write(program, (command) => command === program, how);
  }
  await write('lines', (command) => lines.has(command), KEPT);
}

interface How {
  /** What is in a bundle beside it, which it loads when it needs it. */
  readonly beside?: RegExp;
  /** Taken by `bin/compiled.cjs`: without `import()`. */
  readonly isKept?: boolean;
  /** The file that it begins with, where that has another name. */
  readonly from?: string;
}

const KEPT: How = { isKept: true };

async function write(name: string, isIn: IsIn, how: How = {}): Promise<void> {
  const places = ownPlaces('bin');
  const { code, inputs } = await bundle({
    input: `src/bin/${how.from ?? name}.ts`,
    // A module of this kind asks Node's own ones for a name when it uses it, not for all at once.
    format: 'cjs',
    target: ['node24'],
    inside: ['commander'],
    keeps: 'names',
    banner: places.banner,
    footer: `/* commander:\n${licenceOf('commander')}*/`,
    isKept: how.isKept === true,
    plugins: [apart(isIn, how), lazyChildProcess, places.plugin],
  });
  if (inputs.includes(NOT_INSIDE)) throw new Error(`${NOT_INSIDE} is in ${name}.cjs`);
  // A script of `bin/compiled.cjs` cannot run it.
  if (how.isKept === true && /\bimport\(/.test(code)) throw new Error(`import() is in ${name}.cjs`);
  writeFileSync(path.join(ROOT, BIN, `${name}.cjs`), finished(code));
}

/** What `bin/compiled.cjs` takes: ASCII, with a mark of what follows in front. */
function finished(code: string): string {
  const text = code.replace(/[^\0-\x7f]/g, (sign) => {
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `/* ${mark} */ ${text}`;
}

function apart(isIn: IsIn, { beside }: How): Plugin {
  const isOut = (file: string, importer: string): boolean => {
    if (PART_ELSEWHERE.test(file)) return true;
    const [isCommand, own, ofWing] = COMMAND.exec(file) ?? [];
    if (isCommand !== undefined) return !isIn(own ?? ofWing ?? '');
    if (!file.startsWith('./') || !WING.test(importer)) return false;
    const name = path.basename(file, '.ts');
    const isElsewhere = beside !== undefined && ELSEWHERE.has(name);
    const isSeldom = SELDOM.test(file) || PROGRAMS.has(name) || VERBS.has(name) || isElsewhere;
    return OF_DAEMONS.test(file) || (isSeldom && !isIn('doctor') && !isIn(name));
  };
  return {
    name: 'apart',
    resolveId: {
      filter: { id: /^\.\.?\// },
      handler(file, importer = '', { kind }) {
        if (APART.test(file)) return { id: file.replace(/ts$/, 'js'), external: true };
        if (beside?.test(file)) return { id: file.replace(/ts$/, 'cjs'), external: true };
        if (kind !== 'dynamic-import' || !isOut(file, importer)) return undefined;
        return { id: file, external: true };
      },
    },
  };
}

/** Commander starts other programs for commands of a kind that we have none of. */
const lazyChildProcess: Plugin = {
  name: 'lazy-child-process',
  transform: {
    filter: { id: /commander[/]lib[/]command\.js$/ },
    handler(text, file) {
      if (!text.includes(CHILD_PROCESS)) throw new Error(`${file} does not load it any more`);
      const lazy =
        "const childProcess = { spawn: (...of) => process.getBuiltinModule('node:child_process').spawn(...of) };";
      return { code: text.replace(CHILD_PROCESS, lazy) };
    },
  },
};
