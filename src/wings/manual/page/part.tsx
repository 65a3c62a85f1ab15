// The way from the page to the documents.

import type { PagePart } from '../../../kernel/page/part.ts';

export const manualPage: PagePart = { elsewhere: { title: 'Documents', href: '/docs/index.html' } };
