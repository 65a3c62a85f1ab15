// Keys of gpus: which of the machine's are a node's, and when one that others use is given to
// tasks.

import { key } from '../../../kernel/config/key.ts';
import type { KeysPart } from '../../../kernel/config/schema.ts';

/** What the wing adds to the configuration. */
export const keys: KeysPart = {
  place: { after: 'node.gpus' },
  keys: [
    key(
      'node.gpu_cards',
      'texts',
      '',
      "Only these of the machine's gpus: numbers, uuids or their beginnings, or bus addresses; default: all. See gpus.md.",
    ),
    key(
      'node.gpu_outside_memory',
      'size',
      '1G',
      'A gpu on which programs outside Weft have this much memory is given to no task.',
      { min: 1 },
    ),
    key(
      'node.gpu_free_after',
      'duration',
      '1m',
      'A gpu is given again when it has been well, and unused by others, for this long.',
      { min: 0 },
    ),
    key(
      'node.devices',
      'text',
      null,
      'Program that lists further devices of this node as JSON. See gpus.md.',
      { form: { is: /^\//, expected: 'an absolute path' } },
    ),
    key('node.gpu_look_every', 'duration', '10s', 'Time between two looks at the gpus.', {
      min: 1000,
    }),
  ],
};
