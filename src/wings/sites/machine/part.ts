// What sites add to the machine: what their gateways hear, and stops of nodes for maintenance.

import type { MachinePart } from '../../../kernel/machine/part.ts';
import { decideSitePart } from './heard.ts';
import { askStops, decideSiteStops } from './stops.ts';

export const part: MachinePart = {
  makingJobs: ['site'],
  inputs: {
    site: (step, { part }) => decideSitePart(step, part),
    site_stops: (step, { heard }) => decideSiteStops(step, heard),
  },
  hooks: { onMaintenance: askStops },
};
