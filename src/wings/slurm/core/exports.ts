// The words of `--export`, and of the variables that stand for it: ALL, NONE, NAME and NAME=value.

/** Words between commas outside of quotes, which stay in the value, as Slurm leaves them there. */
export function exportWords(said: string): string[] {
  return said.match(/(?:'[^']*'|"[^"]*"|[^,])+/g) ?? [];
}

/** True of the word that stands for the whole environment. */
export const isAllWord = (word: string): boolean => /^ALL$/i.test(word);

/** True also of words for none of it; `NIL` is one of later releases. */
export const isGroupWord = (word: string): boolean => /^(?:ALL|NONE|NIL)$/i.test(word);
