// Steps that a task has started itself, without the head: whoever did tells of them, so that they
// are in the history. Nothing is run, ended or signalled here.

import { err, ok } from '../../../kernel/base/result.ts';
import type { Handler } from '../../../kernel/head/http/call.ts';
import { refuse } from '../../../kernel/model/errors.ts';
import { formatEpochId, type NodeName, parseTaskId } from '../../../kernel/model/ids.ts';
import { formatStepId, parseStepId } from '../core/ids.ts';
import { nodesInOrder, ownRunningTask } from './handlers.ts';

export const noteStep: Handler<'noteStep'> = (services, call) => {
  const { body, actor } = call;
  const found = ownRunningTask(services, call);
  if (!found.ok) return found;
  const task = found.value;
  const own: readonly string[] = nodesInOrder(task);
  const other = body.nodes.find((node) => !own.includes(node));
  if (other !== undefined) {
    const what = `'${other}' is not a node of this task`;
    return err(refuse('argument.invalid', { what }));
  }
  const { book } = services.steps;
  const now = services.clock.now();
  const made = book.add({
    task: task.id,
    epochId: formatEpochId(task.id, task.epoch),
    command: body.title,
    by: actor.name,
    nodes: body.nodes as NodeName[],
    at: Math.max(task.startedAt ?? 0, now - (body.ranMs ?? 0)),
    isNoted: true,
    cpuCount: body.cpuCount,
  });
  if (!made.ok) return err(refuse('step.too_many', { task: task.id, what: made.error }));
  if (body.exits !== undefined) book.endNoted(made.value, endsOf(body.exits), now);
  return ok({ id: formatStepId(made.value) });
};

export const endStep: Handler<'endStep'> = ({ steps, clock }, { params, body, job }) => {
  const name = parseStepId(params.step);
  const place = parseTaskId(name.ok ? name.value.task : '');
  const step = steps.book.find(params.step);
  // The path's job is the one whose owner was asked for.
  const isOwn = place.ok && job !== null && place.value.jobId === job.id;
  if (!isOwn || step === undefined) return err(refuse('step.not_found', { step: params.step }));
  if (step.isNoted !== true) {
    const what = `step ${params.step} is told of by its nodes`;
    return err(refuse('argument.invalid', { what }));
  }
  return ok({ count: steps.book.endNoted(step, endsOf(body.exits), clock.now()) });
};

type Exit = { readonly code: number } | { readonly signal: number };

const endsOf = (exits: readonly Exit[]) => exits.map((exit) => ({ exit }));
