// `weft setup`: this machine gets its part in a cluster. Says what it will do, does it, and looks
// whether it works; what is done already is not done twice.

import type { VerbGroup } from '../../../../kernel/cli/verb.ts';
import { verb as client } from './setup-client.ts';
import { verb as head } from './setup-head.ts';
import { verb as node } from './setup-node.ts';
import { verb as remove } from './setup-remove.ts';

export const verb: VerbGroup = {
  verbs: {
    head: { summary: 'give this machine the head of a cluster, as a service', verb: head },
    node: { summary: 'make this machine a node of a cluster, as a service', verb: node },
    remove: {
      summary: 'take services of Weft off this machine, with what they keep',
      verb: remove,
    },
    client: { summary: 'tell users of this machine where their head is', verb: client },
  },
};
