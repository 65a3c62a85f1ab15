// The file that starts a task's program at a site: its variables are in the file, which only its
// user may read, as what stands in a command's words is read by everybody on the node.

import { quoteWord } from '../../../../kernel/base/shell-word.ts';

/** Names of the files in a launch's folder. */
export const PROGRAM = 'program';
export const ENVIRONMENT = 'environment';

export interface SiteProgram {
  /** Where the files are, as the site's nodes see it. */
  readonly folder: string;
  readonly argv: readonly string[];
  /** `NAME=value`. */
  readonly environment: readonly string[];
}

/** The files for one program, by their names: only `PROGRAM` is started. */
export function programFiles(launch: SiteProgram): Readonly<Record<string, string>> {
  const given = launch.environment.map(nameAndValue);
  const isPlain = given.every(([name]) => IDENTIFIER.test(name) && !OF_SHELLS.test(name));
  if (isPlain) return { [PROGRAM]: byShell(launch, given) };
  return { [PROGRAM]: byPerl(launch), [ENVIRONMENT]: launch.environment.join('\0') };
}

const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables that some shell has for itself: it would not take them, or would hand on its own. */
const OF_SHELLS =
  /^(BASH\w*|COMP_\w+|DIRSTACK|E?UID|EPOCH\w+|FUNCNAME|GROUPS|HISTCMD|IFS|LINENO|OPTIND|PIPESTATUS|POSIXLY_CORRECT|PPID|S?RANDOM|SECONDS|SHELLOPTS)$/;

function byShell(
  { argv }: SiteProgram,
  given: readonly (readonly [name: string, value: string])[],
): string {
  const exports = given.map(([name, value]) => `export ${name}=${quoteWord(value)}\n`);
  // bash brings these with it.
  const own = ['PWD', 'OLDPWD', 'SHLVL'].filter((name) => !given.some(([one]) => one === name));
  const unset = own.length === 0 ? '' : `unset ${own.join(' ')}\n`;
  return `${unset}${exports.join('')}exec ${argv.map(quoteWord).join(' ')}\n`;
}

const PERL =
  'open(F,"<",shift)or exit 125;local $/;%ENV=map{split/=/,$_,2}split/\\0/,<F>;' +
  'exec{$ARGV[0]}@ARGV;print STDERR "weft: cannot execute $ARGV[0]: $!\\n";exit 127';

/** No shell can set a variable like `BASH_FUNC_module%%`, and `env` takes it as a word only. */
function byPerl({ folder, argv }: SiteProgram): string {
  const words = [`${folder}/${ENVIRONMENT}`, ...argv].map(quoteWord).join(' ');
  return `command -v perl >/dev/null || {
  echo 'weft: this node has no perl, which sets variables that no shell can, as exported functions of bash; submit with --clean-env' >&2
  exit 125
}
exec perl -e ${quoteWord(PERL)} ${words}
`;
}

function nameAndValue(variable: string): readonly [name: string, value: string] {
  const at = variable.indexOf('=');
  return [variable.slice(0, at), variable.slice(at + 1)];
}
