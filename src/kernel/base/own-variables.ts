// Variables that a program has for itself, and is not to hand on to what it runs for others.

type Variables = Readonly<Record<string, string | undefined>>;

/** Names the others, and is one of them; units of deploy/systemd set it, too. */
const OWN_VARIABLES = 'WEFT_FOR_ITSELF';

/** These over `from`, marked as set for the program itself. What its user has set is left alone. */
export function withOwn(from: Variables, own: Readonly<Record<string, string>>): Variables {
  const added = Object.entries(own).filter(([name]) => from[name] === undefined);
  const names = added.map(([name]) => name).join(' ');
  return { ...from, ...Object.fromEntries(added), [OWN_VARIABLES]: names };
}

/** What others may have of these. */
export function withoutOwn(from: Variables): Variables {
  const own = new Set([OWN_VARIABLES, ...(from[OWN_VARIABLES]?.split(' ') ?? [])]);
  return Object.fromEntries(Object.entries(from).filter(([name]) => !own.has(name)));
}
