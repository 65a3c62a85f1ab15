// `weft doctor`: looks at what Weft needs, and says for each what to do.

import { accessSync, constants, existsSync } from 'node:fs';
import path from 'node:path';
import { Context } from '../context.ts';
import { SERVICES } from '../daemons/local-paths.ts';
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
  async run({ context: typed, options }) {
    const context = withService(typed);
    const findings = [];
    const { fix = false, cluster = false } = options;
    for (const one of checksOf(context)) {
      for (const finding of await one.check(context, { fix, cluster }))
        findings.push({ name: one.name, ...finding });
    }
    if (context !== typed) context.close();
    return printFindings(context, findings, options.output);
  },
});

/**
 * Root, and whoever else may read the configuration of the machine's service and has no cluster,
 * asks about that service.
 */
function withService(context: Context): Context {
  if (context.isNamed || existsSync(context.directory)) return context;
  const service = [SERVICES.head, SERVICES.node].find((folder) => {
    return isReadable(path.join(folder, 'weft.yaml'));
  });
  return service === undefined
    ? context
    : new Context({ ...context, cwd: context.folder, service });
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
