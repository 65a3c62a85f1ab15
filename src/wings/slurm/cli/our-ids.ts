// Ids of jobs that are typed for commands of ours.

import { usage } from '../../../kernel/model/failure.ts';
import { readId } from '../core/ids.ts';

/** `42`, `42,43_[1-3]` and `jobid=42`, in our words. */
export function idList(text: string): string[] {
  const ids = text.replace(/(^|,)job(?:id)?=/gi, '$1').split(/,(?![^[]*\])/);
  return ids.filter((one) => one !== '').map(ourId);
}

export function ourId(text: string): string {
  const id = readId(text);
  if (!id.ok) throw usage(id.error);
  return id.value;
}
