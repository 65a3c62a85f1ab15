// Starts that an external scheduler asks for over HTTP.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { readPlace } from '../../../kernel/head/http/find-job.ts';
import type { NodeName } from '../../../kernel/model/ids.ts';
import { startTask } from './start.ts';

export const startJob: Handler<'startJob'> = async ({ engine }, { params, body, actor }) => {
  const place = readPlace(params.id, body.index);
  if (!place.ok) return place;
  const nodes = body.nodes.map((name) => name as NodeName);
  const started = await startTask(engine, { place: place.value, nodes }, actor);
  return started.ok ? ok({ count: started.value }) : err(started.error.refusal);
};
