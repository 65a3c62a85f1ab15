// Modules find other files from where they are themselves. In a bundle each still does: it is told
// the place of the module that the compiler has made of it, in `dist/`.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'esbuild-wasm';
import { ROOT } from './tree.ts';

const SOURCES = path.join(ROOT, 'src');

/**
 * For a bundle that lies in this folder of `dist/`: its first line, and what esbuild does for it.
 */
export function ownPlaces(folder: string): { readonly banner: string; readonly plugin: Plugin } {
  const dist = path.relative(folder, '') || '.';
  const url = `require('node:url').pathToFileURL(require('node:path').join(__dirname, '${dist}', file))`;
  return { banner: `const placeInDist = (file) => ${url}.href;`, plugin };
}

/**
 * For bundles that are modules and lie anywhere below `dist/`: their first lines, with `require`
 * for libraries of the other kind in them.
 */
export function ownPlacesBelow(): { readonly banner: string; readonly plugin: Plugin } {
  const banner = `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);
const placeInDist = (file) => import.meta.url.replace(/(.*\\/dist\\/).*/, '$1') + file;`;
  return { banner, plugin };
}

const plugin: Plugin = {
  name: 'own-places',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/ }, ({ path: file }) => {
      const text = readFileSync(file, 'utf8');
      if (!file.startsWith(SOURCES) || !text.includes('import.meta.url')) return undefined;
      const place = path.relative(SOURCES, file).replace(/ts$/, 'js');
      return {
        contents: text.replaceAll('import.meta.url', `placeInDist('${place}')`),
        loader: 'ts',
      };
    });
  },
};
