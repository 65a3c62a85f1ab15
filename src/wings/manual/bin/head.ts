// The documents where the build has left them: in the same place for the sources and for a package.

import { fileURLToPath } from 'node:url';
import type { HeadPart } from '../../../kernel/head/part.ts';
import { handlersOf } from '../head/handlers.ts';

const SITE = fileURLToPath(new URL('../../../../dist/site/', import.meta.url));

export const head: HeadPart = { handlers: handlersOf(SITE) };
