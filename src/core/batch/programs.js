// How a build and the jobs of a batch are started, and what they find in their work directory.
/** In the work directory: what is given, what is kept. */
export const INPUT_FOLDER = 'input';
export const SAVE_FOLDER = 'distribute_save';
/** The seed's copy of the files that all jobs have. */
export const INITIAL_FOLDER = 'initial_files';
/** In the work directory of a task that has built: what the build has printed. */
export const BUILD_LOG_FILE = '.weft_build.log';
/** `python3 run.py 16`; any other program by its own first line. */
export function programArgv({ as }, args) {
  return as.endsWith('.py') ? ['python3', as, ...args] : [`./${as}`, ...args];
}
/** The folder behind the mount of this number, beside `input`. */
export function bindFolder(at) {
  return `_bind_path_${at}`;
}
