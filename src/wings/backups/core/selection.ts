// What of a head's folder a backup has: everything but the store and its like, which are copied by
// other means, what belongs to the process, and what the head makes again by itself.

/** Files of the process that runs, and room held back. The store has its own way into a backup. */
const OF_PROCESS = /^weft\.(?:db|db-.*|mark|mark\.new|pid|lock|lock-.*|reserve|try-.*)$/;
/** Half of a file, rubbish, sums counted anew, and what is always written and never missed. */
const MADE_AGAIN = [
  /^(?:blobs|archive)\/trash(?:\/|$)/,
  /^blobs\/incoming\//,
  /^\w+\/total$/,
  /^samples(?:\/|$)/,
];
/** SQLite files beside the store, which are in use as that is: copied by SQLite, not as bytes. */
export const DATABASES: readonly string[] = ['steps/steps.db'];
const OF_DATABASES = /^steps\//;
/** Made from the configuration at each start. */
const OPTIONS = /^options\.json$/;

/** `path`: below the head's folder, with `/`. */
export function isSelected(path: string): boolean {
  if (OF_PROCESS.test(path) || OPTIONS.test(path) || OF_DATABASES.test(path)) return false;
  return !MADE_AGAIN.some((one) => one.test(path));
}
