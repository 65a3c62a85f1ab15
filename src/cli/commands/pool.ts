// `weft pool …`: workers that stay, and run functions for programs.

import { list } from '../pools/list.ts';
import { scale } from '../pools/scale.ts';
import { show } from '../pools/show.ts';
import { start } from '../pools/start.ts';
import { stop } from '../pools/stop.ts';
import type { VerbGroup } from '../verb.ts';

export const verb: VerbGroup = {
  verbs: {
    start: { summary: 'start a pool of workers', verb: start },
    list: { summary: 'list the pools of the cluster', verb: list },
    show: { summary: 'show one pool', verb: show },
    scale: { summary: 'change how many workers a pool may have', verb: scale },
    stop: { summary: 'stop pools, and with them their workers', verb: stop },
  },
};
