// Maintenance as a noun.

import type { Maintenance } from '../../model/maintenance.ts';
import type { Noun } from '../noun.ts';
import * as apply from './apply.ts';
import { decideCheckNode } from './check-node.ts';
import { decideMaintenances } from './course.ts';
import { decideNodeOn } from './node-on.ts';
import { decideCancelMaintenance, decidePlanMaintenance } from './plan.ts';

export interface MaintenanceData {
  readonly maintenances: readonly Maintenance[];
}

export const maintenance: Noun<'maintenance', MaintenanceData> = {
  commands: {
    check_node: decideCheckNode,
    plan_maintenance: decidePlanMaintenance,
    node_on: decideNodeOn,
    cancel_maintenance: (step, { id }, actor) => decideCancelMaintenance(step, id, actor),
  },
  events: {
    maintenance_planned: apply.applyMaintenancePlanned,
    maintenance_moved: apply.applyMaintenanceMoved,
    maintenance_cancelled: apply.applyMaintenanceCancelled,
    maintenance_work: apply.applyMaintenanceWork,
    maintenance_stop: apply.applyMaintenanceStop,
    maintenance_taken_back: apply.applyMaintenanceTakenBack,
  },
  facts: () => ({ maintenances: new Map() }),
  save: ({ maintenances }) => ({ maintenances: [...maintenances.values()] }),
  load(state, { maintenances }) {
    for (const one of maintenances) state.maintenances.set(one.id, one);
  },
  due: decideMaintenances,
  rebase: apply.rebaseMaintenances,
};
