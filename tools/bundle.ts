// The programs of a package, each whole in one file: Node.js takes longer to find, read and link a
// hundred modules than a short command takes to run.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build, type OnLoadArgs, type OnResolveArgs, type Plugin } from 'esbuild-wasm';
import { QUICK } from '../src/kernel/cli/quick.ts';
import { WINGS } from '../src/wings.ts';
import { libraries, licenceOf } from './manifest.ts';
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
 * Writes `dist/bin/programs.cjs`, with everything, `quick.cjs`, a file for each program that is
 * typed all day, and `lines.cjs`, which these load for lines of `weft` that they run.
 */
export async function bundlePrograms(): Promise<void> {
  const often = WINGS.filter(({ cli }) => cli?.often !== undefined);
  const named = new Set(often.flatMap(({ cli }) => Object.keys(cli?.programs ?? {})));
  const lines = new Set(often.flatMap(({ cli }) => cli?.often ?? []));
  await bundle('programs', () => true);
  await bundle('quick', (command) => QUICK.has(command), KEPT);
  for (const program of named) {
    const how = { ...KEPT, beside: LINES, from: 'often' };
    await bundle(program, (command) => command === program, how);
  }
  await bundle('lines', (command) => lines.has(command), KEPT);
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

async function bundle(name: string, isIn: IsIn, how: How = {}): Promise<void> {
  const places = ownPlaces('bin');
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [path.join('src', 'bin', `${how.from ?? name}.ts`)],
    outfile: path.join(BIN, `${name}.cjs`),
    bundle: true,
    platform: 'node',
    target: 'node24',
    // A module of this kind asks Node's own ones for a name when it uses it, not for all at once.
    format: 'cjs',
    // Names stay: a bug is reported with its stack.
    minifyWhitespace: true,
    minifySyntax: true,
    external: libraries().filter((one) => one !== 'commander'),
    banner: { js: places.banner },
    footer: { js: `/* commander:\n${licenceOf('commander')}*/` },
    supported: { 'dynamic-import': how.isKept !== true },
    plugins: [apart(isIn, how), lazyChildProcess, places.plugin],
    logLevel: 'warning',
    metafile: true,
  });
  if (NOT_INSIDE in metafile.inputs) throw new Error(`${NOT_INSIDE} is in ${name}.cjs`);
  finish(path.join(ROOT, BIN, `${name}.cjs`));
}

/** Makes of it what `bin/compiled.cjs` takes: ASCII, with a mark of what follows in front. */
function finish(file: string): void {
  const text = readFileSync(file, 'utf8').replace(/[^\0-\x7f]/g, (sign) => {
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  const mark = createHash('sha256').update(text).digest('hex').slice(0, 16);
  writeFileSync(file, `/* ${mark} */ ${text}`);
}

const nameOf = (file: string): string => path.basename(file, '.ts');

function apart(isIn: IsIn, { beside }: How): Plugin {
  return {
    name: 'apart',
    setup({ onResolve }) {
      onResolve({ filter: APART }, ({ path: file }: OnResolveArgs) => {
        return { path: file.replace(/ts$/, 'js'), external: true };
      });
      if (beside !== undefined) {
        onResolve({ filter: beside }, ({ path: file }: OnResolveArgs) => {
          return { path: file.replace(/ts$/, 'cjs'), external: true };
        });
      }
      onResolve({ filter: PART_ELSEWHERE }, ({ path: file, kind }: OnResolveArgs) =>
        kind === 'dynamic-import' ? { path: file, external: true } : undefined,
      );
      onResolve({ filter: COMMAND }, ({ path: file, kind }: OnResolveArgs) => {
        const [, own, ofWing] = COMMAND.exec(file) ?? [];
        const command = own ?? ofWing ?? '';
        if (kind !== 'dynamic-import' || isIn(command)) return undefined;
        return { path: file, external: true };
      });
      onResolve({ filter: /^\.\// }, ({ path: file, kind, importer }: OnResolveArgs) => {
        if (kind !== 'dynamic-import' || !WING.test(importer)) return undefined;
        const name = nameOf(file);
        const isElsewhere = beside !== undefined && ELSEWHERE.has(name);
        const isSeldom = SELDOM.test(file) || PROGRAMS.has(name) || VERBS.has(name) || isElsewhere;
        const isAsked = !OF_DAEMONS.test(file) && (isIn('doctor') || !isSeldom || isIn(name));
        return isAsked ? undefined : { path: file, external: true };
      });
    },
  };
}

/** Commander starts other programs for commands of a kind that we have none of. */
const lazyChildProcess: Plugin = {
  name: 'lazy-child-process',
  setup({ onLoad }) {
    onLoad({ filter: /commander[/]lib[/]command\.js$/ }, ({ path: file }: OnLoadArgs) => {
      const text = readFileSync(file, 'utf8');
      if (!text.includes(CHILD_PROCESS)) throw new Error(`${file} does not load it any more`);
      const lazy =
        "const childProcess = { spawn: (...of) => process.getBuiltinModule('node:child_process').spawn(...of) };";
      return { contents: text.replace(CHILD_PROCESS, lazy), loader: 'js' };
    });
  },
};
