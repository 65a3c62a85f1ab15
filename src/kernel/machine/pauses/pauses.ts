// Pauses of nodes as a noun. Their facts are saved with their nodes.

import type { Noun } from '../noun.ts';
import * as apply from './apply.ts';
import { decidePauseNode, decideUnpauseNode, forgetPauseRequests } from './asked.ts';

export const pauses: Noun<'pauses'> = {
  commands: {
    pause_node: decidePauseNode,
    unpause_node: decideUnpauseNode,
  },
  events: {
    node_paused: apply.applyNodePaused,
    node_unpaused: apply.applyNodeUnpaused,
    node_pause_asked: apply.applyPauseAsked,
    node_pause_forgotten: apply.applyPauseForgotten,
  },
  facts: () => ({}),
  save: () => ({}),
  load: () => undefined,
  rebase({ nodes }, byMs) {
    for (const node of nodes.values()) {
      const { wish } = node.pausing;
      if (wish === null) continue;
      node.pausing = { ...node.pausing, wish: { ...wish, until: wish.until + byMs } };
    }
  },
  due: forgetPauseRequests,
};
