// The tarball: unpacked into ~/.local it is an installation without root.

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import type { How } from './tree.ts';

/** The form of gzip without its work: tests unpack once what is in it. */
const STORE = `'${process.execPath}' '${path.join(import.meta.dirname, 'store.ts')}'`;

/** The file that was made. */
export function makeTarball({ tree, out, date, quick }: How): string {
  const file = path.join(out, `weft-${tree.version}-linux-${process.arch}.tar.gz`);
  const done = spawnSync(
    'tar',
    [
      ...['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w'],
      ...[`--mtime=@${date}`, '-I', quick ? STORE : 'gzip -n9'],
      ...[`--transform=s,^\\.,weft-${tree.version},`, '-cf', file, '-C', tree.folder, '.'],
    ],
    { encoding: 'utf8' },
  );
  if (done.status !== 0) throw new Error(`tar: ${done.error?.message ?? done.stderr}`);
  return file;
}
