// Names of users whom no account names.

/** Name of a uid that has no account, as programs in containers often run under: `uid79999`. */
export function nameOfBareUid(uid: number): string {
  return `uid${uid}`;
}
