// What the wing adds to a head: pauses that operators ask for.

import type { Handler, HandlersOf } from '../../../kernel/head/http/call.ts';
import { changed } from '../../../kernel/head/http/handlers/job-actions.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { pauseRoutes } from '../api/pauses.ts';

const pauseNode: Handler<'pauseNode'> = async ({ engine }, { params, body, actor }) => {
  const node = params.name as NodeName;
  const { durationMs, requeue = false } = body;
  return changed(await engine.execute({ kind: 'pause_node', node, durationMs, requeue }, actor));
};

const unpauseNode: Handler<'unpauseNode'> = async ({ engine }, { params, actor }) => {
  const node = params.name as NodeName;
  return changed(await engine.execute({ kind: 'unpause_node', node }, actor));
};

const handlers: HandlersOf<typeof pauseRoutes> = { pauseNode, unpauseNode };

export const head: HeadPart = { handlers };
