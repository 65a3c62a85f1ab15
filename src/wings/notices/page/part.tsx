// The message that all users see, above the content of every page.

import '../api/paths.ts';
import { useCall } from '../../../kernel/page/data/query.ts';
import type { PagePart } from '../../../kernel/page/part.ts';

export const noticesPage: PagePart = { Banner: NoticeLine };

function NoticeLine() {
  const { value } = useCall('getNotice', {}, { when: ({ kind }) => kind.startsWith('notice_') });
  const notice = value?.notice;
  if (notice?.shown !== true) return null;
  return (
    <p class="notice">
      <strong>{notice.by}:</strong> {notice.text}
    </p>
  );
}
