// Keys of the listener for schedulers that speak the Maui wiki protocol.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';
import type { Entries, EntryProblem, PlacedTable } from '../../../kernel/config/table.ts';

const FILTERS: PlacedTable = {
  section: 'filters',
  before: 'partitions',
  entry: 'a rule',
  fields: [
    key('over', 'choice', 'nodes', 'What the rule is for.', { choices: ['nodes', 'jobs'] }),
    key(
      'when',
      'labels',
      '',
      'Only what meets all of these; of jobs `user=`, `partition=`, `qos=`.',
    ),
    key('hide', 'flag', 'false', 'A scheduler at the wiki listener does not see it.'),
    key('add', 'texts', '', 'Labels that it is shown with besides its own.'),
    key('queue', 'text', null, 'The queue (class) that it is shown in; default: its partition.'),
  ],
  check: checkRules,
};

function* checkRules(filters: Entries): Generator<EntryProblem> {
  for (const [name, fields] of filters) {
    const does = fields.get('hide') === true || fields.has('add') || fields.has('queue');
    if (!does) yield { name, what: 'does nothing; give hide: true, add or queue' };
  }
}

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { after: 'node.switch_user' },
  atStart: ['wiki.', 'filters.'],
  tables: [FILTERS],
  keys: [
    key(
      'wiki.listen',
      'text',
      null,
      'Where a Maui-like scheduler runs the partitions of policy `external`: the path of a unix socket, or host:port. See wiki-protocol.md.',
    ),
    key(
      'wiki.group',
      'text',
      null,
      'Its members on the machine of the head may connect, beside root and the user of the head.',
    ),
    key(
      'wiki.allow',
      'texts',
      '',
      'Addresses and networks (`10.1.0.0/16`) of other machines that may connect by TCP.',
    ),
    key(
      'wiki.key_file',
      'text',
      null,
      'File with the number that both sides sign with, readable by its owner only.',
    ),
    key(
      'wiki.unsigned',
      'flag',
      'false',
      'Take requests without a signature, on loopback; a unix socket without a key takes them anyway.',
    ),
    key('wiki.partitions', 'texts', '', 'Only these external partitions; default: all of them.'),
    key('wiki.events', 'address', null, 'Where the scheduler hears that something has changed.'),
    key('wiki.events_every', 'duration', '10s', 'Changes within this time are reported once.', {
      min: 100,
    }),
  ],
};
