// A folder for each job that a gateway gives to its site, which the site's nodes see as well.

/** Null in its place: this program's own. */
export interface SiteUser {
  readonly uid: number;
  readonly gid: number;
}

/** One folder for each launch, kept until the launch is forgotten. */
export interface SiteFolders {
  /** Numbers of all there are. */
  list(): readonly number[];
  /** Where the site's nodes find it. */
  path(launchId: number): string;
  /** Makes it, for this user alone. */
  make(launchId: number, user: SiteUser | null): void;
  /** Whole, or not at all. */
  write(launchId: number, name: string, text: string): void;
  /** At most 64 KiB; null: it is not there. */
  read(launchId: number, name: string): string | null;
  /** True for the one who makes it; of all that try, on any node, only one does. */
  claim(launchId: number): boolean;
  remove(launchId: number): void;
}
