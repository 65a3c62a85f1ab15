// The programs by name, those of wings too. Loading one starts it.

import { WINGS } from '../wings.ts';
import { type Programs, programsOf } from './wing-programs.ts';

export const PROGRAMS: Programs = { weft: () => import('./weft.ts'), ...programsOf(WINGS) };
