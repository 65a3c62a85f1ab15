// Where a symbolic link leads: those that stay inside their folder are kept, the others would name
// something else on another machine.

/** Whether a link at this relative path stays inside its folder; nothing is looked up. */
export function staysInside(path: string, target: string): boolean {
  if (target.startsWith('/')) return false;
  let depth = path.split('/').length - 1;
  for (const part of target.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return false;
  }
  return true;
}
