// Where the compiler cannot know a type.

/**
 * A value as the type that its place asks for, unchecked: a library declares less than it takes, or
 * the type follows from a relation that the compiler does not follow. Whoever calls this says in a
 * comment which.
 */
export function believed<T>(value: unknown): T {
  return value as T;
}
