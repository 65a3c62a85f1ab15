// What the page shows of a file that a task left, without its being downloaded.

export const PREVIEW_MAX = 256 * 1024;
/** Half a picture is none. */
const PICTURE_MAX = 4 * 1_048_576;

/** A row of small pictures is no reason to fetch hundreds of megabytes. */
const THUMBNAIL_MAX = 1_048_576;
const THUMBNAILS_MAX = 24;

const PICTURES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
};

export type PreviewKind =
  | { readonly kind: 'text'; readonly isCut: boolean }
  | { readonly kind: 'picture'; readonly type: string }
  | { readonly kind: 'too_large' };

export function previewOf(file: { readonly path: string; readonly size: number }): PreviewKind {
  const ending = file.path.split('.').at(-1)?.toLowerCase() ?? '';
  const type = Object.hasOwn(PICTURES, ending) ? PICTURES[ending] : undefined;
  if (type === undefined) return { kind: 'text', isCut: file.size > PREVIEW_MAX };
  return file.size > PICTURE_MAX ? { kind: 'too_large' } : { kind: 'picture', type };
}

/** The pictures that are shown small, unasked: the first few that are not large. */
export function thumbnailsOf<Entry extends { readonly path: string; readonly size: number }>(
  entries: readonly Entry[],
): Entry[] {
  return entries
    .filter((entry) => previewOf(entry).kind === 'picture' && entry.size <= THUMBNAIL_MAX)
    .slice(0, THUMBNAILS_MAX);
}
