// The lists that name wings, without them: what whoever deletes a wing takes out by hand.

export interface Needing {
  readonly name: string;
  readonly needs: readonly string[];
}

/** An import or export from a wing, with its line break. */
const STATEMENT = /^(?:import|export)\b[^;]*?'\.\/wings\/[^;]*;\n/gm;
const NAME = /\b(\w+)(?=\s*[,}])/g;

/** A list (`src/wings.ts`, `src/library.ts`, `src/pages.tsx`) without any wing. */
export function withoutWings(text: string): string {
  const names = [...text.matchAll(STATEMENT)]
    .filter(([statement]) => statement.startsWith('import'))
    .flatMap(([statement]) => [...statement.matchAll(NAME)].map(([, name = '']) => name));
  const rest = text.replace(STATEMENT, '');
  return names.reduce((left, name) => left.replace(new RegExp(`\\b${name}\\b,?\\s*`), ''), rest);
}

/** A project of the compiler that leaves the folders of wings alone. */
export function withoutProject(text: string): string {
  const project = JSON.parse(text) as { include: string[]; exclude?: string[] };
  const isOther = (one: string): boolean => !/^(?:\.\.\/)*wings\//.test(one);
  const include = project.include.filter(isOther);
  const exclude = [...(project.exclude ?? []).filter(isOther), ...OF_WINGS];
  return JSON.stringify({ ...project, include, exclude }, null, 2);
}

const OF_WINGS = ['wings/**'];

/** The wing, and behind it all that it needs, however far down. */
export function needsOf(name: string, wings: readonly Needing[]): string[] {
  const found = new Set([name]);
  for (const one of found) {
    for (const need of wings.find((wing) => wing.name === one)?.needs ?? []) found.add(need);
  }
  return [...found];
}
