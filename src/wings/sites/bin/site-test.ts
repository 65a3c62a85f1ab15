// Tries what a gateway would ask of its site, before it is one.

import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileProblem, namingFile } from '../../../kernel/config/file-problem.ts';
import { usage } from '../../../kernel/model/failure.ts';
import type { SiteTried } from '../../../kernel/model/site.ts';
import type { SiteOptions } from '../config/site-options.ts';
import { TRY_SCRIPT, tryOut } from '../fabric/site/try-out.ts';
import { adaptorOf } from './site-adaptors.ts';
import { siteCommands } from './site-commands.ts';
import { filtersOf } from './site-hub.ts';

/** @param top a directory that the site's nodes see, too */
export async function trySite(site: SiteOptions, top: string): Promise<SiteTried[]> {
  const folder = makeFolder(top);
  const scriptFile = join(folder, 'script');
  try {
    chmodSync(folder, 0o755);
    namingFile(scriptFile, () => writeFileSync(scriptFile, TRY_SCRIPT, { mode: 0o755 }));
    const name = `weft-test-${randomUUID().slice(0, 8)}`;
    const adaptor = adaptorOf(site);
    return await tryOut({
      adaptor,
      commands: siteCommands(adaptor, site.before),
      settings: site,
      folder,
      scriptFile,
      name,
      filters: filtersOf(site),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeFolder(top: string): string {
  try {
    return mkdtempSync(join(top, 'site-test-'));
  } catch (error) {
    const hint = "Name the gateway's own directory with --dir.";
    throw usage(`cannot write in the directory ${top}: ${fileProblem(error)}`, hint);
  }
}
