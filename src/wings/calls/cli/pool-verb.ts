// `weft pool …`: workers that stay, and run functions for programs.

import type { VerbGroup } from '../../../kernel/cli/verb.ts';
import { list } from './list.ts';
import { scale } from './scale.ts';
import { show } from './show.ts';
import { start } from './start.ts';
import { stop } from './stop.ts';

export const verb: VerbGroup = {
  verbs: {
    start: { summary: 'start a pool of workers', verb: start },
    list: { summary: 'list the pools of the cluster', verb: list },
    show: { summary: 'show one pool', verb: show },
    scale: { summary: 'change how many workers a pool may have', verb: scale },
    stop: { summary: 'stop pools, and with them their workers', verb: stop },
  },
};
