// The library of the package: one file for `require`, a door to the same file for `import`, so that
// a program which does both has each class once, and declarations for either.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { bundle } from './bundler.ts';
import { ownPlaces } from './own-places.ts';
import { ROOT } from './tree.ts';

const FOLDER = path.join(ROOT, 'dist');
/** Specifiers of a declaration that are files of ours. */
const OWN = /(from\s+|import\s*\(?|declare module\s+)(['"])(\.[^'"]+)\.(?:ts|js)\2/g;

/** Needs `dist/` as the compiler makes it. */
export async function bundleLibrary(): Promise<void> {
  const file = path.join(FOLDER, 'library.cjs');
  const places = ownPlaces('');
  const { code } = await bundle({
    input: 'src/library.ts',
    format: 'cjs',
    target: ['node20.16'],
    inside: [],
    keeps: 'all',
    banner: places.banner,
    plugins: [places.plugin],
  });
  writeFileSync(file, code);
  const names = Object.keys(createRequire(import.meta.url)(file) as object).sort();
  const door = `import library from './library.cjs';\n\nexport const { ${names.join(', ')} } = library;\n`;
  writeFileSync(path.join(FOLDER, 'library.mjs'), door);
  copyDeclarations(path.join(FOLDER, 'library.d.ts'), new Set());
}

/** `x.d.ts` again as `x.d.cts`, with all that it imports: a compiler takes it for CommonJS then. */
function copyDeclarations(file: string, done: Set<string>): void {
  if (done.has(file)) return;
  done.add(file);
  const text = readFileSync(file, 'utf8').replace(
    OWN,
    (_, before: string, quote: string, specifier: string) => {
      copyDeclarations(path.resolve(path.dirname(file), `${specifier}.d.ts`), done);
      return `${before}${quote}${specifier}.cjs${quote}`;
    },
  );
  writeFileSync(file.replace(/\.ts$/, '.cts'), text);
}
