// Maintenance that is planned, under way or lately over.

import type { Maintenance } from '../../model/maintenance.ts';

export interface MaintenanceFacts {
  /** All that are not over, and the last that are, oldest first; their windows are reservations. */
  readonly maintenances: Map<string, Maintenance>;
}
