// `weft pilot …`: nodes that a batch system such as Slurm hosts for a time.

import type { VerbGroup } from '../../../kernel/cli/verb.ts';
import { list } from './list.ts';
import { logs } from './logs.ts';
import { scale } from './scale.ts';
import { start } from './start.ts';
import { stop } from './stop.ts';

export const verb: VerbGroup = {
  verbs: {
    start: { summary: 'start pilots at Slurm or Grid Engine', verb: start },
    list: { summary: 'list fleets and their pilots', verb: list },
    scale: { summary: 'change how many pilots a fleet may have', verb: scale },
    stop: { summary: 'end all pilots of fleets', verb: stop },
    logs: { summary: 'show the log of a pilot', verb: logs },
  },
};
