// What npm sets for a program that it runs, as `npx weft` and scripts of packages do: jobs, daemons
// and commands of the site are to find what the user's own shell has.

const VARIABLES = /^(?:npm_.*|INIT_CWD|COLOR)$/;
/** What npm puts before the user's folders; the second comes last. */
const PROGRAMS = /\/node_modules\/\.bin$/;
const LAST = /\/node-gyp-bin$/;

/**
 * Takes it out, where npm runs this program. In a script of a package of the user's own the folders
 * of its programs stay: whoever writes `weft run tool` there means that tool.
 */
export function forgetNpm(environment: NodeJS.ProcessEnv): void {
  const { npm_lifecycle_event: event, npm_package_name: name, npm_node_execpath } = environment;
  if (event === undefined) return;
  const { NODE, PATH } = environment;
  if (PATH !== undefined && (event === 'npx' || name === 'weft')) {
    environment['PATH'] = usersFolders(PATH.split(':')).join(':');
  }
  if (NODE !== undefined && NODE === npm_node_execpath) delete environment['NODE'];
  for (const variable of Object.keys(environment)) {
    if (VARIABLES.test(variable)) delete environment[variable];
  }
}

function usersFolders(folders: readonly string[]): readonly string[] {
  const first = folders.findIndex((folder) => !PROGRAMS.test(folder));
  if (first === -1) return [];
  return folders.slice(LAST.test(folders[first] ?? '') ? first + 1 : first);
}
