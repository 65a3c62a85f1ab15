// Where a symbolic link leads: those that stay inside their folder are kept, the others would name
// something else on another machine.

/**
 * Whether a link at this relative path stays inside its folder; nothing is looked up. What goes up
 * again after it went down does not: it may have gone down through another link.
 */
export function staysInside(path: string, target: string): boolean {
  if (target.startsWith('/')) return false;
  let depth = path.split('/').length - 1;
  let hasGoneDown = false;
  for (const part of target.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') hasGoneDown = true;
    if (depth < 0 || (part === '..' && hasGoneDown)) return false;
  }
  return true;
}
