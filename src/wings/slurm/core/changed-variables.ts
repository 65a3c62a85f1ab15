// Variables that a script has changed since its task began, as words for env(1): on another node of
// the task ranks begin with what that node gave the task, and need what the script says beside.

/** What each shell sets by itself for its own use. */
const OF_THE_SHELL = new Set(['_', 'PWD', 'OLDPWD', 'SHLVL']);

type Variables = Readonly<Record<string, string | undefined>>;

/** What has another value than the task, or the shell of an `salloc`, began with. */
export function variablesSet(origin: Variables, own: Variables): Readonly<Record<string, string>> {
  const set = Object.entries(own).flatMap(([name, value]) => {
    const isChanged = value !== undefined && value !== origin[name];
    return isChanged && isMeant(name) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(set);
}

/** Names of what the task began with, and a rank is not to have. */
export function variablesGone(origin: Variables, own: Variables): string[] {
  return Object.keys(origin).filter((name) => isMeant(name) && own[name] === undefined);
}

const isMeant = (name: string): boolean => name !== '' && !OF_THE_SHELL.has(name);

/** `origin`: what the task began with; `own`: what a rank is to have. */
export function changedVariables(origin: Variables, own: Variables): readonly string[] {
  const set = Object.entries(variablesSet(origin, own)).map(([name, value]) => `${name}=${value}`);
  return [...variablesGone(origin, own).flatMap((name) => ['-u', name]), ...set];
}
