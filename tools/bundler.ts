// What all bundles have in common: sources in, one file out, by a bundler that is a native program.

import path from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import type { MinifyOptions } from 'rolldown/utils';
import { libraries } from './manifest.ts';
import { ROOT } from './tree.ts';

/** What one bundle is to be. */
export interface BundleOptions {
  /** The file that it begins with, from the top of the repository. */
  readonly input: string;
  readonly format: 'cjs' | 'esm' | 'iife';
  /** Programs that run it; syntax that one of them does not know is written in other words. */
  readonly target: readonly string[];
  /** Libraries that are part of it; a page has all. */
  readonly inside: readonly string[] | 'all';
  /** `names`: bugs are reported with stacks. `lines`: these, too. `all`: nothing is shortened. */
  readonly keeps: 'nothing' | 'names' | 'lines' | 'all';
  readonly banner?: string;
  readonly footer?: string;
  readonly plugins?: readonly Plugin[];
  /** Without `import()`: what it would load is asked of `require`. */
  readonly isKept?: boolean;
}

export interface Bundle {
  readonly code: string;
  /** All files that were read for it, from the top of the repository. */
  readonly inputs: readonly string[];
}

const NAMES = { keepNames: { function: true, class: true } };
const SHORTENED: Readonly<Record<BundleOptions['keeps'], boolean | MinifyOptions>> = {
  nothing: true,
  names: { compress: NAMES, mangle: false, codegen: { removeWhitespace: true } },
  lines: {
    compress: { ...NAMES, joinVars: false, sequences: false },
    mangle: false,
    codegen: { removeWhitespace: false },
  },
  all: false,
};
/** How the bundler writes its way to take such a module, with a copy of all names. */
const COPY_OF_NAMES = /export var __toESM = [^;]*?\n\);/;
const NAMES_LATE =
  'export var __toESM = (mod) => Object.create(mod, { default: { value: mod, enumerable: true } });';

export async function bundle(options: BundleOptions): Promise<Bundle> {
  const { input, format, inside, keeps } = options;
  const isOut = outsideOf(inside);
  await using made = await rolldown({
    cwd: ROOT,
    input,
    platform: inside === 'all' ? 'browser' : 'node',
    tsconfig: false,
    external: format === 'esm' ? isOut : [],
    transform: {
      target: [...options.target],
      typescript: { onlyRemoveTypeImports: true },
      jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    },
    plugins: [
      ...(format === 'cjs' ? [loadedLate(isOut), namesLate] : []),
      ...(options.plugins ?? []),
    ],
    onLog: (level, log, report) => report(level === 'warn' ? 'error' : level, log),
  });
  const { output } = await made.generate({
    format,
    codeSplitting: false,
    dynamicImportInCjs: options.isKept !== true,
    exports: format === 'cjs' ? 'named' : 'auto',
    strict: format === 'iife',
    esModule: true,
    charset: 'ascii',
    comments: { legal: inside !== 'all', annotation: false, jsdoc: false },
    // A module is strict; of another file this says so only in front of all else.
    banner: `${format === 'cjs' ? "'use strict';\n" : ''}${options.banner ?? ''}`,
    // Behind what shortens, which takes comments out.
    postFooter: options.footer ?? '',
    minify: SHORTENED[keeps],
  });
  const [{ code }, ...others] = output;
  if (others.length > 0) throw new Error(`${input} would be several files`);
  const files = (await made.watchFiles).map((file) => path.relative(ROOT, file));
  return { code, inputs: files };
}

function outsideOf(inside: readonly string[] | 'all'): (name: string) => boolean {
  if (inside === 'all') return () => false;
  const outside = libraries().filter((one) => !inside.includes(one));
  return (name) =>
    name.startsWith('node:') || outside.some((one) => name === one || name.startsWith(`${one}/`));
}

/** A module of Node's, or of a library, is loaded where that is run which imports it. */
function loadedLate(isOut: (name: string) => boolean): Plugin {
  return {
    name: 'loaded-late',
    resolveId: {
      filter: { id: /^[^./\0]/ },
      handler(name, _importer, { kind }) {
        if (!isOut(name)) return undefined;
        return kind === 'import-statement' ? `\0late:${name}` : { id: name, external: true };
      },
    },
    load: {
      filter: { id: /^\0late:/ },
      handler: (id) => ({ code: `module.exports = require('${id.slice(6)}');`, moduleType: 'js' }),
    },
  };
}

/** Names of a module that is not one of ECMAScript's are looked up when they are used. */
const namesLate: Plugin = {
  name: 'names-late',
  transform: {
    filter: { id: /^\0rolldown\/runtime\.js$/ },
    handler(text) {
      if (!COPY_OF_NAMES.test(text))
        throw new Error('the bundler takes such modules in another way');
      return { code: text.replace(COPY_OF_NAMES, NAMES_LATE) };
    },
  },
};
