// Texts that outlast a look at another page: of this tab, or of all tabs of this browser. A browser
// that keeps nothing (cookies forbidden, no room) is no reason for the page to stop: it remembers
// as long as it is open.

type Where = 'tab' | 'browser';

const memory = new Map<string, string>();

export function readKept(where: Where, name: string): string | null {
  try {
    return storageOf(where).getItem(name) ?? memory.get(name) ?? null;
  } catch {
    return memory.get(name) ?? null;
  }
}

/** Null: forgets it. */
export function keep(where: Where, name: string, text: string | null): void {
  memory.delete(name);
  try {
    if (text === null) storageOf(where).removeItem(name);
    else storageOf(where).setItem(name, text);
  } catch {
    if (text !== null) memory.set(name, text);
  }
}

/** The mere look at it throws where it is forbidden. */
function storageOf(where: Where): Storage {
  return where === 'tab' ? sessionStorage : localStorage;
}
