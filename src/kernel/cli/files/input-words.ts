// What a submission would send, for `--dry-run`.

import { plural } from '../../base/plural.ts';
import { formatBytes } from '../../base/size.ts';
import type { InputFiles } from '../../transfer/inputs/inputs.ts';
import { lackingFiles } from '../../transfer/upload.ts';
import { transferOf } from '../connection/transfer-context.ts';
import type { Context } from '../context.ts';

/** `3 files with 1.2G go with it; 1 of them with 1G has to be sent.` */
export async function inputWords(context: Context, { files, bytes }: InputFiles): Promise<string> {
  const lacking = await lackingFiles(transferOf(context).access, files);
  const toSend = lacking.reduce((sum, { leftBytes }) => sum + leftBytes, 0);
  const sent =
    lacking.length === 0
      ? 'all of them are on the head'
      : `${lacking.length} of them with ${formatBytes(toSend)} would be sent`;
  return `${plural(files.length, 'file')} with ${formatBytes(bytes)} would go with it; ${sent}.`;
}
