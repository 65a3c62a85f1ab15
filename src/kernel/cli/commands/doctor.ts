// `weft doctor`: looks at what Weft needs, and says for each what to do.

import { checksOf } from '../doctor/checks.ts';
import { printFindings } from '../doctor/print.ts';
import { defineVerb } from '../verb.ts';

export const verb = defineVerb<{ output?: string; fix?: boolean; cluster?: boolean | string }>({
  define(command) {
    command.option('--fix', 'remove empty cgroups left by agents that are gone');
    command.option(
      '--cluster [file]',
      'compare accounts, directories, clocks and releases of all machines, over ssh; FILE: HOST [NODE] in each line',
    );
    command.option('-o, --output <format>', 'json');
  },
  async run({ context, options }) {
    const findings = [];
    const { fix = false, cluster = false } = options;
    for (const one of checksOf(context)) {
      for (const finding of await one.check(context, { fix, cluster }))
        findings.push({ name: one.name, ...finding });
    }
    return printFindings(context, findings, options.output);
  },
});
