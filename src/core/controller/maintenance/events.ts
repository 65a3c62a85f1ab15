// What happens to maintenance.

import type { NodeName } from '../../model/ids.ts';
import type { Maintenance, MaintenancePhase, NodeWork } from '../../model/maintenance.ts';

export type MaintenanceEvent =
  | {
      readonly kind: 'maintenance_planned';
      readonly maintenance: Maintenance;
      readonly by: string;
    }
  | {
      readonly kind: 'maintenance_moved';
      readonly id: string;
      readonly phase: MaintenancePhase;
      /** Once it is over: what came of it. */
      readonly detail?: string;
    }
  | { readonly kind: 'maintenance_cancelled'; readonly id: string; readonly by: string }
  | {
      readonly kind: 'maintenance_work';
      readonly id: string;
      readonly node: NodeName;
      readonly work: NodeWork;
    };
