// The operators' message as other commands show it.

import type { Context, Glance } from '../../../kernel/cli/context.ts';

/** One line while it is to be shown. */
export async function glance(context: Context): Promise<Glance> {
  const { notice } = await (await context.api()).call('getNotice');
  const lines = notice?.shown === true ? [`Notice from ${notice.by}: ${notice.text}`] : [];
  return { fields: { notice }, lines };
}
