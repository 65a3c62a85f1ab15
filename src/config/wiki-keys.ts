// Keys of the door for schedulers that speak the Maui wiki protocol.

import { type Key, key } from './key.ts';

export const WIKI_KEYS: readonly Key[] = [
  key(
    'wiki.listen',
    'address',
    null,
    'A Maui-like scheduler runs the partitions of policy `external` from here. See wiki-protocol.md.',
  ),
  key(
    'wiki.key_file',
    'text',
    null,
    'File with the number that both sides sign with, readable by its owner only.',
  ),
  key('wiki.unsigned', 'flag', 'false', 'Take requests without a signature; on loopback only.'),
  key('wiki.partitions', 'texts', '', 'Only these external partitions; default: all of them.'),
  key('wiki.events', 'address', null, 'Where the scheduler hears that something has changed.'),
  key('wiki.events_every', 'duration', '10s', 'Changes within this time are told of once.', {
    min: 100,
  }),
];
