// The program `weft` as a package has it for the commands that are typed all day.

export { QUICK } from '../kernel/cli/quick.ts';

/** Loading it starts it. */
export const weft = (): Promise<unknown> => import('./weft.ts');
