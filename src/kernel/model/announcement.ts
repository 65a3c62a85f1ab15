// Where agents have their listeners, as the kernel lists it: in the names of abstract sockets
// (unix(7)), which every user of a machine sees and may make. So a name is a hint, and never says
// who answers there.

const PREFIX = 'weft-agent/';
/** sun_path of unix(7) has 108 bytes, of which the first is NUL here. */
const NAME_LENGTH_MAX = 107;
/** Lines end with a space and the name; NULs are shown as `@`. */
const LISTED = / @weft-agent\/\d+(\/\S+\.sock)$/;

/** Name for the listener at an absolute path; null: it would be too long. */
export function announcementOf(pid: number, door: string): string | null {
  const name = `${PREFIX}${pid}${encodeURI(door)}`;
  return name.length <= NAME_LENGTH_MAX ? name : null;
}

/** Paths of the listeners in a table of the kernel's unix sockets, each once. */
export function announcedIn(table: string): string[] {
  const doors = table.split('\n').flatMap((line) => {
    const written = LISTED.exec(line)?.[1];
    const door = written === undefined ? null : decoded(written);
    // Nobody else's names may say anything to a terminal.
    return door === null || /\p{C}/u.test(door) ? [] : [door];
  });
  return [...new Set(doors)].sort();
}

function decoded(text: string): string | null {
  try {
    return decodeURI(text);
  } catch {
    return null; // Made by somebody else.
  }
}
