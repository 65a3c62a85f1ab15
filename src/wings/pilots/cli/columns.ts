// Fleets and their pilots, for tables.

import { colourOf } from '../../../kernel/cli/output/paint.ts';
import type { Column } from '../../../kernel/cli/output/table.ts';
import { instantColumn } from '../../../kernel/cli/output/times.ts';
import type { FleetView } from '../api/pilots.ts';
import type { PilotSystem } from '../model/pilot.ts';

export const SYSTEM_TITLES: Readonly<Record<PilotSystem, string>> = {
  slurm: 'Slurm',
  sge: 'Grid Engine',
};

/** One line for each pilot; a fleet without any has one of its own. */
export interface PilotRow {
  readonly fleet: FleetView;
  readonly pilot: FleetView['pilots'][number] | null;
}

export function rowsOf(fleets: readonly FleetView[]): PilotRow[] {
  return fleets.flatMap((fleet): PilotRow[] => {
    if (fleet.pilots.length === 0) return [{ fleet, pilot: null }];
    return fleet.pilots.map((pilot) => ({ fleet, pilot }));
  });
}

export function pilotColumns(now: number): Column<PilotRow>[] {
  return [
    { title: 'FLEET', value: ({ fleet }) => fleet.name },
    { title: 'SYSTEM', value: ({ fleet }) => fleet.system },
    { title: 'RANGE', value: ({ fleet }) => rangeOf(fleet) },
    { title: 'PILOT', value: ({ pilot }) => pilot?.node ?? '-' },
    { title: 'JOB', value: ({ pilot }) => pilot?.job ?? '-' },
    { title: 'STATE', value: rowStateOf, colour: colourOf },
    instantColumn('ENDS', ({ pilot }) => pilot?.endsAt ?? null, { now, none: '-' }),
    { title: 'REMARK', value: remarkOf, least: 12 },
  ];
}

function rangeOf({ isOnce, min, max }: FleetView): string {
  return isOnce ? `${max}` : `${min}-${max}`;
}

function rowStateOf({ fleet, pilot }: PilotRow): string {
  return pilot?.state ?? fleet.state;
}

function remarkOf({ fleet, pilot }: PilotRow): string {
  return pilot?.why ?? fleet.trouble ?? nodeRemark(pilot);
}

function nodeRemark(pilot: PilotRow['pilot']): string {
  // Images that are fetched take minutes: its log tells how far that is.
  if (pilot?.state === 'starting')
    return `its node has not come; see weft pilot logs ${pilot.node}`;
  if (pilot?.state === 'away') return `its node cannot be heard; see weft node show ${pilot.node}`;
  return '';
}
