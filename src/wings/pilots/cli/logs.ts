// `weft pilot logs`: the file that a pilot writes in the folder of its fleet.

import { readFileSync } from 'node:fs';
import { defineVerb } from '../../../kernel/cli/verb.ts';
import { usage } from '../../../kernel/model/failure.ts';

export const logs = defineVerb({
  define: (command) => void command.argument('<pilot>', 'name of a pilot, which is its node'),
  async run({ context, args: [name = ''] }) {
    const { fleets } = await (await context.api()).call('listFleets');
    const found = fleets.flatMap(({ pilots }) => pilots).find(({ node }) => node === name);
    if (found === undefined) {
      const hint = 'What ended left its log in the folder of its fleet, as weft-PILOT.log.';
      throw usage(`there is no pilot ${name}; \`weft pilot list\` shows them`, hint);
    }
    context.out(read(found.log));
    return 0;
  },
});

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'it is not on this machine, or not written yet' : code;
    throw usage(`the log cannot be read: ${file}: ${why}`);
  }
}
