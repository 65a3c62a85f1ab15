// Keys of the door for schedulers that speak the Maui wiki protocol.

import { type Key, key } from '../../../kernel/config/key.ts';

export const WIKI_KEYS: readonly Key[] = [
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
  key('wiki.events_every', 'duration', '10s', 'Changes within this time are told of once.', {
    min: 100,
  }),
];
