// What tasks left: stored by their nodes, listed, read and removed by their owners.

import { err, ok } from '../../../base/result.ts';
import { type JobManifest, readOutputs } from '../../../files/job-manifest.ts';
import { refuse } from '../../../model/errors.ts';
import { formatTaskId, type JobId } from '../../../model/ids.ts';
import { epochCaller } from '../../epoch-caller.ts';
import type { Handler } from '../call.ts';
import { readPlace } from '../find-job.ts';
import { noteRoom } from './blobs.ts';

const TASKS_SHOWN = 100;

export const storeOutputs: Handler<'storeOutputs'> = async ({ engine, archive, blobs }, call) => {
  const { principal, params, body } = call;
  const node = principal.kind === 'node' ? principal.name : null;
  if (node === null) return err(refuse('internal.error', { incident: 'principal' }));
  const caller = epochCaller(engine.state, node, params.epochId);
  if (!caller.ok) return caller;
  const outputs = readOutputs(body);
  if (!outputs.ok) return err(refuse('argument.invalid', { what: outputs.error }));
  const { contents = [] } = body;
  if (contents.length > 0) {
    // By their own hashes: what is stored names them, or it is refused as lacking.
    const sent = contents.map((text) => ({ bytes: Buffer.from(text, 'base64') }));
    const received = await blobs.receiveMany(caller.value.owner, sent, true);
    noteRoom(engine, caller.value, received);
    if (!received.ok) return received;
  }
  const stored = await archive.store(caller.value, outputs.value);
  noteRoom(engine, caller.value, stored);
  return stored;
};

export const listOutputs: Handler<'listOutputs'> = async ({ archive }, { params, query }) => {
  const place = readPlace(params.id);
  if (!place.ok) return place;
  const { jobId, index } = place.value;
  const limit = index === null ? (query.limit ?? TASKS_SHOWN) : 1;
  const from = index ?? query.cursor ?? 0;
  const found = await archive.list(jobId, { from, limit: limit + 1 });
  if (index !== null) {
    return ok({ tasks: found.filter((one) => (one.index ?? 0) === index), next: null });
  }
  const page = found.slice(0, limit);
  if (query.manifests !== true) return ok({ tasks: page, next: found[limit]?.index ?? null });
  const { tasks, manifests, count } = await archive.read(jobId, page);
  return ok({
    tasks: [...tasks],
    manifests: manifests.map(shown),
    next: found[count]?.index ?? null,
  });
};

function shown(manifest: JobManifest) {
  const { nodes, entries, missing } = manifest;
  return { ...manifest, nodes: [...nodes], entries: [...entries], missing: [...missing] };
}

export const getOutputs: Handler<'getOutputs'> = async ({ archive }, { params, job }) => {
  const place = readPlace(params.id);
  if (!place.ok) return place;
  const { jobId } = place.value;
  const index = Number(params.index);
  const isArray = job !== null && job.spec.array !== null;
  const manifest = await archive.manifest({ jobId, index: isArray ? index : 0, isArray });
  const task = formatTaskId(jobId as JobId, isArray ? index : null);
  if (manifest === 'damaged') {
    const what = 'it cannot be read from the disk of the head';
    return err(refuse('outputs.damaged', { task, what }));
  }
  if (manifest !== null && (isArray || index === 0)) return ok(shown(manifest));
  return err(refuse('outputs.not_found', { task }));
};

export const removeOutputs: Handler<'removeOutputs'> = async ({ archive }, { params }) => {
  const place = readPlace(params.id);
  if (!place.ok) return place;
  const { jobId, index } = place.value;
  if (index !== null) {
    const what = `files are removed of whole jobs; name job ${jobId}`;
    return err(refuse('argument.invalid', { what }));
  }
  return ok({ count: (await archive.remove(jobId)).tasks });
};
