// The rules of the house that neither the compiler nor the formatter knows. Run it as
// `npm run tidy`: prints what is wrong, where, and the remedy; ends with 1 when there are errors.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { checkBans } from './tidy/bans.ts';
import { checkCycles } from './tidy/cycles.ts';
import { checkFalling } from './tidy/falling.ts';
import { checkBuilt, checkFile } from './tidy/files.ts';
import { type Finding, formatFinding } from './tidy/finding.ts';
import { checkFolderCycles, checkKnownCycles } from './tidy/folder-cycles.ts';
import { readHouses } from './tidy/houses.ts';
import { checkImports } from './tidy/imports.ts';
import { checkComments, checkPages } from './tidy/pages.ts';
import { checkPureProject, PURE_PROJECT } from './tidy/projects.ts';
import { readSource } from './tidy/source.ts';
import { filesBelow, ROOT } from './tree.ts';

/** All findings about these files (path -> text). */
export function tidy(files: ReadonlyMap<string, string>): Finding[] {
  const sources = [...files].map(([file, text]) => readSource(file, text));
  const houses = readHouses(sources);
  return [
    ...sources.flatMap((source) => checkImports(source, houses)),
    // Those of the web page hold text that is no code.
    ...sources
      .filter(({ path: file }) => !file.endsWith('.tsx'))
      .flatMap((source) => [...checkBans(source), ...checkFile(source)]),
    ...checkCycles(sources),
    ...checkFolderCycles(sources),
  ];
}

function main(): void {
  const all = filesBelow('');
  const paths = all.filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.d.ts'));
  const pages = all.filter((file) => file.endsWith('.md'));
  const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
  const textsOf = (files: readonly string[]) => new Map(files.map((file) => [file, read(file)]));
  const texts = textsOf(paths);
  const sources = [...texts].map(([file, text]) => readSource(file, text));
  const findings = [
    ...tidy(texts),
    ...checkKnownCycles(sources),
    ...checkFalling(sources),
    ...checkPureProject(read(PURE_PROJECT)),
    ...checkPages(textsOf(pages), all, read),
    ...checkComments(sources, all),
    ...checkBuilt(all),
  ];
  for (const finding of findings) console.log(formatFinding(finding));
  const errors = findings.filter((finding) => finding.level === 'error').length;
  const warnings = findings.length - errors;
  console.log(`${paths.length} files, ${errors} errors, ${warnings} warnings`);
  process.exitCode = errors > 0 ? 1 : 0;
}

if (import.meta.main) main();
