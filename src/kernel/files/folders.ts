// Names with a meaning in the work directory of a batch's task.

/** What a job of a batch puts here is kept. */
export const SAVE_FOLDER = 'distribute_save';

/** In the work directory of a task that has built: what the build has printed. */
export const BUILD_LOG_FILE = '.weft_build.log';
