// What the wing adds to a head.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler, HandlersOf } from '../../../kernel/head/http/call.ts';
import { readPlace } from '../../../kernel/head/http/find-job.ts';
import type { HeadPart } from '../../../kernel/head/part.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import type { startRoutes } from '../api/start-job.ts';
import { startTask } from './start.ts';

/** Starts that an external scheduler asks for over HTTP. */
const startJob: Handler<'startJob'> = async ({ engine }, { params, body, actor }) => {
  const place = readPlace(params.id, body.index);
  if (!place.ok) return place;
  const nodes = body.nodes.map((name) => name as NodeName);
  const started = await startTask(engine, { place: place.value, nodes }, actor);
  return started.ok ? ok({ count: started.value }) : err(started.error.refusal);
};

const handlers: HandlersOf<typeof startRoutes> = { startJob };

export const head: HeadPart = { handlers };
