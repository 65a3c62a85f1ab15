// The program `weft` as a package has it for the commands that are typed all day.

/** Loading it starts it. */
export const weft = (): Promise<unknown> => import('./weft.ts');
