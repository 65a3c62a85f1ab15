// CCS as the fake speaks it, as far as its forms are public: docs/sites/ccs.md.

import { readFileSync } from 'node:fs';
import { type Dialect, lastNumber } from './dialect.ts';

/** The value of `--name=value`. */
function value(args: readonly string[], name: string): string {
  const start = `--${name}=`;
  return args.find((word) => word.startsWith(start))?.slice(start.length) ?? '';
}

export const CCS: Dialect = {
  ccsalloc({ args, site }) {
    const id = site.submit({
      name: value(args, 'name'),
      script: readFileSync(args.at(-1) ?? '', 'utf8'),
      stdout: value(args, 'stdout'),
      stderr: value(args, 'stderr'),
    });
    return { out: `Request (${id}/fake): taken\n` };
  },
  ccsinfo({ site }) {
    const line = ({ id, name, code }: { id: number; name: string; code: number | null }) =>
      `${id} ${code === null ? 'ALLOCATED' : 'STOPPED'} ${name}\n`;
    return { out: site.jobs().map(line).join('') };
  },
  ccskill({ args, site }) {
    if (site.cancel(lastNumber(args))) return {};
    return { error: 'request is not there\n', code: 1 };
  },
};
