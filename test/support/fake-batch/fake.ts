// A command of a batch system that is not there: `node fake.ts SYSTEM FOLDER PROGRAM [WORD…]`.

import { readFileSync } from 'node:fs';
import { DIALECTS } from './dialects.ts';
import { FakeSite } from './fake-site.ts';

const [system = '', folder = '', program = '', ...args] = process.argv.slice(2);
const said = DIALECTS[system]?.[program]?.({
  args,
  input: readFileSync(0, 'utf8'),
  site: new FakeSite(folder),
});
if (said === undefined) throw new Error(`the fake ${system} has no ${program}`);
process.stdout.write(said.out ?? '');
process.stderr.write(said.error ?? '');
process.exitCode = said.code ?? 0;
