// Where backups go: a folder of the head's machine, or a bucket of an object store.

/** Nothing in a bucket's name or below it has to be escaped in a URL, and no part is `..`. */
const BUCKET = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])((?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*)$/;

export const PLACE_WORDS = 'an absolute path, or s3://BUCKET/PREFIX';
export const PLACE_FORM = {
  is: new RegExp(`^/[^\\0]*$|${BUCKET.source}`),
  expected: PLACE_WORDS,
};

export interface BucketPlace {
  readonly bucket: string;
  /** Empty, or with a slash at its end. */
  readonly prefix: string;
}

/** Null where it is none. */
export function parseBucket(place: string): BucketPlace | null {
  const [, bucket, path = ''] = BUCKET.exec(place) ?? [];
  if (bucket === undefined) return null;
  return { bucket, prefix: path === '' ? '' : `${path.slice(1)}/` };
}

export const isBucket = (place: string): boolean => place.startsWith('s3://');

export const isPlace = (place: string): boolean => PLACE_FORM.is.test(place);
