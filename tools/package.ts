// `node tools/package.ts [--out FOLDER] [--quick] [--tarball] [--sign KEY]`: what is installed
// without npm, made of dist/:
// a Debian package, an rpm where rpmbuild is, and a tarball for a home directory (only that one
// with --tarball), all with Node inside; a bill of materials beside them, SHA256SUMS of them all,
// and with --sign KEY a signature of those. The same sources give the same bytes.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { addSystemFiles, makeDeb } from './package/deb.ts';
import { canMakeRpm, makeRpm } from './package/rpm.ts';
import { makeSbom } from './package/sbom.ts';
import { signSums, writeSums } from './package/sums.ts';
import { makeTarball } from './package/tarball.ts';
import { makeTree } from './package/tree.ts';
import { ROOT } from './tree.ts';

/** When the sources were committed; an unpacked source has none, and takes SOURCE_DATE_EPOCH. */
function sourceDate(): number {
  const given = Number(process.env['SOURCE_DATE_EPOCH']);
  if (Number.isInteger(given) && given > 0) return given;
  const told = spawnSync('git', ['log', '-1', '--format=%ct'], { cwd: ROOT, encoding: 'utf8' });
  return Number(told.stdout?.trim()) || Math.floor(Date.now() / 1000);
}

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: '.' },
    quick: { type: 'boolean', default: false },
    tarball: { type: 'boolean', default: false },
    sign: { type: 'string' },
  },
});
const out = path.resolve(values.out);
const folder = mkdtempSync(path.join(tmpdir(), 'weft-make-package-'));
try {
  mkdirSync(out, { recursive: true });
  const tree = await makeTree(path.join(folder, 'usr'));
  const how = { tree, out, date: sourceDate(), quick: values.quick };
  // Each is told as it is there: the larger ones take minutes.
  const files: string[] = [];
  const add = (file: string): void => {
    files.push(file);
    console.log(file);
  };
  add(makeSbom(how));
  add(makeTarball(how));
  if (!values.tarball) {
    addSystemFiles(tree);
    if (canMakeRpm()) add(makeRpm(how));
    add(makeDeb(how));
  }
  const sums = writeSums(files, out);
  if (values.sign !== undefined) add(signSums(sums, values.sign));
  console.log(sums);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
