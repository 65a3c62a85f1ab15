// The user's home directory, for programs of the user.

interface Environment {
  readonly HOME?: string | undefined;
}

/**
 * Home of who runs this, nearly always known without asking the system; null: HOME is not set and
 * the uid has no account, as in containers.
 */
export function homeOf(environment: Environment): string | null {
  if (environment.HOME) return environment.HOME;
  try {
    return process.getBuiltinModule('node:os').homedir();
  } catch {
    return null; // Libuv says ENOENT for a uid that no account has.
  }
}
