// Modules find other files from where they are themselves. In a bundle each still does: it is told
// the place of the module that the compiler has made of it, in `dist/`.

import path from 'node:path';
import type { Plugin } from 'rolldown';
import { ROOT } from './tree.ts';

const SOURCES = path.join(ROOT, 'src');

/** For a bundle that lies in this folder of `dist/`: its first line, and its part of the work. */
export function ownPlaces(folder: string): { readonly banner: string; readonly plugin: Plugin } {
  const dist = path.relative(folder, '') || '.';
  const url = `require('node:url').pathToFileURL(require('node:path').join(__dirname, '${dist}', file))`;
  return { banner: `const placeInDist = (file) => ${url}.href;`, plugin };
}

/** For bundles that are modules and lie anywhere below `dist/`. */
export function ownPlacesBelow(): { readonly banner: string; readonly plugin: Plugin } {
  const banner = `const placeInDist = (file) => import.meta.url.replace(/(.*\\/dist\\/).*/, '$1') + file;`;
  return { banner, plugin };
}

const plugin: Plugin = {
  name: 'own-places',
  transform: {
    filter: { id: /\.ts$/, code: 'import.meta.url' },
    handler(text, file) {
      if (!file.startsWith(SOURCES)) return undefined;
      const place = path.relative(SOURCES, file).replace(/ts$/, 'js');
      return { code: text.replaceAll('import.meta.url', `placeInDist('${place}')`) };
    },
  },
};
