// What is said of a task that starts, ends or is kept for long: on whom it waits, why that may be,
// and the way out.

import { formatInstant } from '../../../base/instant.ts';
import type { HeldUp } from '../../../machine/answers/held-up.ts';

/** @param there what its site says of it; null: nothing, or it is at none */
export function sayHeldUp(held: HeldUp, there: string | null): string {
  const { kind, task, since, nodes, site } = held;
  const where = nodes.join(', ');
  const [first = 'NODE'] = nodes;
  const when = formatInstant(since);
  if (site !== null && kind === 'starting') return sayGiven(held, site);
  if (site !== null && kind === 'completing') return sayEnding(held, site, there);
  switch (kind) {
    case 'behind':
      return 'The head lacks records that its nodes know of, and tells nobody to start; `weft info` says more.';
    case 'starting':
      return (
        `It has been starting since ${when}: ${where} was told so, again every few seconds, and has not ` +
        'said that it runs. An image that is fetched or a file system that hangs takes long; the log of the ' +
        `agent there says more. \`weft requeue ${task}\` takes it back, \`weft node drain ${first}\` keeps ` +
        'others away.'
      );
    case 'staging_in':
      return (
        `Its files have been on their way to ${where} since ${when}. The log of the agent there says what ` +
        `is in the way; \`weft requeue ${task}\` takes it back, \`weft cancel ${task}\` gives it up.`
      );
    case 'staging_out':
      return (
        `What it left has been on its way from ${where} to the head since ${when}; it is done when that is ` +
        `kept. \`weft cancel ${task}\` gives it the kill grace, and once more gives those files up.`
      );
    default:
      return (
        `It has been ending since ${when}: ${where} has not said that its processes are gone, and kills ` +
        'them again every other second. One that waits for a disk or a network file system cannot be ' +
        `killed: mend that, or restart ${first}. Once the machine is off, an operator's ` +
        `\`weft node lost ${first}\` ends it.`
      );
  }
}

function sayGiven({ task, since, nodes }: HeldUp, site: string): string {
  return (
    `It has been starting since ${formatInstant(since)}: the gateway of site ${site} was told so for ` +
    `${nodes.join(', ')}, again every few seconds, and has not said that it runs there. Its log says more; ` +
    `\`weft site show ${site}\` has what the site says. \`weft cancel ${task}\` gives the task up.`
  );
}

function sayEnding({ since, nodes }: HeldUp, site: string, there: string | null): string {
  const known = there === null ? '' : `: ${there}`;
  return (
    `It has been ending since ${formatInstant(since)}: site ${site} was asked to end it, and has not said that ` +
    `it is over${known}. The log of its gateway and \`weft site show ${site}\` say more; whoever runs the ` +
    `site can end it there. Once its gateway is off for good, an operator's ` +
    `\`weft node lost ${nodes[0] ?? site}\` gives it up here.`
  );
}
