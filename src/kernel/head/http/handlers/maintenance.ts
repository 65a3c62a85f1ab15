// Maintenance: shown to all users, planned and cancelled by operators.

import { err, ok } from '../../../base/result.ts';
import { refuse } from '../../../model/errors.ts';
import { isAlive } from '../../../model/maintenance.ts';
import { viewMaintenance } from '../../answers/maintenance-view.ts';
import type { Handler } from '../call.ts';
import { changed } from './job-actions.ts';

export const planMaintenance: Handler<'planMaintenance'> = async ({ engine }, call) => {
  const {
    nodes = [],
    labels = [],
    time,
    durationMs,
    running,
    reason,
    warning,
    program,
  } = call.body;
  const wish = { nodes, labels, time, durationMs, running, reason, warning: warning ?? null };
  const { account = null, restarts = false } = program ?? {};
  const whole = program ? { program: program.program, account, restarts } : null;
  const command = { kind: 'plan_maintenance', ...wish, program: whole } as const;
  const reply = await engine.execute(command, call.actor);
  if (!reply.ok) return reply;
  const id = reply.value.kind === 'maintenance_planned' ? reply.value.id : '';
  return find(engine, id);
};

export const nodeOn: Handler<'nodeOn'> = async ({ engine }, { body, actor }) =>
  changed(await engine.execute({ kind: 'node_on', nodes: body.nodes }, actor));

export const listMaintenance: Handler<'listMaintenance'> = ({ engine }, { query }) => {
  const all = [...engine.state.maintenances.values()];
  const shown = all.filter((one) => query.all === true || isAlive(one));
  return ok({ maintenance: shown.map(viewMaintenance) });
};

export const getMaintenance: Handler<'getMaintenance'> = ({ engine }, { params }) =>
  find(engine, params.id);

export const cancelMaintenance: Handler<'cancelMaintenance'> = async ({ engine }, call) =>
  changed(await engine.execute({ kind: 'cancel_maintenance', id: call.params.id }, call.actor));

function find(engine: Parameters<Handler<'getMaintenance'>>[0]['engine'], id: string) {
  const one = engine.state.maintenances.get(id);
  if (one === undefined) return err(refuse('maintenance.not_found', { maintenance: id }));
  return ok(viewMaintenance(one));
}
