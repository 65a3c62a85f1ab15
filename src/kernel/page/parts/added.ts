// What wings add to pages of the kernel.

import { createContext } from 'preact';
import type { PagePart } from '../part.ts';

export const Added = createContext<readonly PagePart[]>([]);
