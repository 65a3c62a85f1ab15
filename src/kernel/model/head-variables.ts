// The variables by which programs find their head, as far as they are no secret.

/** A job may say them; a token it names by a file, as it would be in the journal otherwise. */
export const WHERE_HEAD_IS: ReadonlySet<string> = new Set([
  ...['WEFT_HEAD', 'WEFT_FINGERPRINT', 'WEFT_TOKEN_FILE', 'WEFT_SOCKET', 'WEFT_DIR'],
]);
