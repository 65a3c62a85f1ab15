// What is said of a task that starts, ends or is kept for long: on whom it waits, why that may be, and
// the way out.

import { formatInstant } from '../../../base/instant.ts';
import type { HeldUp } from '../../../machine/answers/held-up.ts';

export function sayHeldUp({ kind, task, since, nodes }: HeldUp): string {
  const where = nodes.join(', ');
  const [first = 'NODE'] = nodes;
  const when = formatInstant(since);
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
        `is in the way; \`weft requeue ${task}\` takes it back, \`weft kill ${task}\` gives it up.`
      );
    case 'staging_out':
      return (
        `What it left has been on its way from ${where} to the head since ${when}; it is done when that is ` +
        `kept. \`weft kill ${task}\` gives it the kill grace, and once more gives those files up.`
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
