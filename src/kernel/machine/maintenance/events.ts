// What happens to maintenance.

import type { NodeName } from '../../model/ids.ts';
import type { Maintenance, MaintenancePhase, NodeStop, NodeWork } from '../../model/maintenance.ts';

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
    }
  /** What the site of one of its nodes has done with it. */
  | {
      readonly kind: 'maintenance_stop';
      readonly id: string;
      readonly node: NodeName;
      readonly stop: NodeStop;
    }
  /** The node goes back to service before its end. */
  | {
      readonly kind: 'maintenance_taken_back';
      readonly id: string;
      readonly node: NodeName;
      readonly by: string;
    };
