// What the doctor says of the listener for wiki schedulers: whoever is let in there runs, ends and
// changes the jobs of its partitions, whatever the checksum says.

import type { Context } from '../../../kernel/cli/context.ts';
import type { Finding } from '../../../kernel/cli/doctor/finding.ts';
import { Failure } from '../../../kernel/model/failure.ts';
import { wikiOptions } from '../config/wiki-options.ts';

/** Nothing where there is no listener, or no configuration: another check says that. */
export async function wikiListener(context: Context): Promise<Finding[]> {
  const config = await context.config().catch(() => null);
  if (config === null) return [];
  try {
    const wiki = wikiOptions(config);
    if (wiki === null) return [];
    const { listen, group } = wiki;
    const members = group === null ? '' : `, and members of ${group}`;
    if ('path' in listen) {
      const text = `${listen.path}, a unix socket for root and the user of the head${members}`;
      return [{ state: 'ok', text }];
    }
    const { host, port, allow } = listen;
    const others = allow.length === 0 ? '' : `, and EVERY USER of ${allow.join(', ')}`;
    const text = `TCP ${host}:${port} GIVES THE JOBS OF ITS PARTITIONS to root and the user of the head${members}${others}; the checksum stops nobody who sees one packet`;
    return [{ state: 'note', text, remedy: REMEDY }];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [{ state: 'bad', text: error.message, remedy: 'See docs/wiki-protocol.md.' }];
  }
}

const REMEDY =
  'Set wiki.listen to the path of a unix socket; or let nobody else log in on those machines, and nobody read the network between.';
