// Programs of wings that are typed all day, as a package has them: without what reads the words
// of `weft`.

import { WINGS } from '../wings.ts';
import { programsOf } from './wing-programs.ts';

export const PROGRAMS = programsOf(
  WINGS.filter(({ cli }) => cli?.often !== undefined),
  ({ program }) => Promise.reject(new Error(`${program} does not read its words itself`)),
);
