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

const isMeant = (name: string): boolean => name !== '' && !OF_THE_SHELL.has(name);

/** `origin`: what the task began with; `own`: what a rank is to have. */
export function changedVariables(origin: Variables, own: Variables): readonly string[] {
  const gone = Object.keys(origin).filter((name) => isMeant(name) && own[name] === undefined);
  const set = Object.entries(variablesSet(origin, own)).map(([name, value]) => `${name}=${value}`);
  return [...gone.flatMap((name) => ['-u', name]), ...set];
}
