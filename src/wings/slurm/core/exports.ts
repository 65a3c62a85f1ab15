// The words of `--export`, and of the variables that stand for it: ALL, NONE, NAME and NAME=value.

/** Words between commas outside of quotes, which stay in the value, as Slurm leaves them there. */
export function exportWords(said: string): string[] {
  return said.match(/(?:'[^']*'|"[^"]*"|[^,])+/g) ?? [];
}

/** Whether the whole environment is meant, or, in later releases `NIL`, none of it. */
export const isAllWord = (word: string): boolean => /^ALL$/i.test(word);
export const isGroupWord = (word: string): boolean => /^(?:ALL|NONE|NIL)$/i.test(word);
