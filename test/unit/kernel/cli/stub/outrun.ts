// A stand-in for a head whose port another program took a moment before its first start.

import { existsSync, writeFileSync } from 'node:fs';
import { readHeadOptions } from '../../../../../src/bin/head-options.ts';

const { directory } = readHeadOptions(process.argv.slice(2));
const seen = `${directory}/outrun`;
if (!existsSync(seen)) {
  writeFileSync(seen, '');
  process.stderr.write('weft head: Error: listen EADDRINUSE: address already in use 127.0.0.1:1\n');
  process.exit(1);
}
await import('./head.ts');
