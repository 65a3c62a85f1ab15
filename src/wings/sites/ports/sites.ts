// What a gateway keeps on disks: a folder for each job that it gives to its site, which the site's
// nodes see as well, and notes of its own.

/** Null in its place: this program's own. */
export interface SiteUser {
  readonly uid: number;
  readonly gid: number;
}

/** One folder for each launch, kept until the launch is forgotten. */
export interface SiteFolders {
  /** Numbers of all there are. */
  list(): readonly number[];
  /** What its user and the site's nodes see of it. */
  path(launchId: number): string;
  /** Makes it and that for this user alone, who finds script and files there by their names. */
  make(
    launchId: number,
    user: SiteUser | null,
    script: string,
    files?: Readonly<Record<string, string>>,
  ): void;
  /** The script. */
  scriptFile(launchId: number): string;
  /** Whole, or not at all; for the gateway alone. */
  note(launchId: number, name: string, text: string): void;
  /** What was noted, at most 64 KiB; null: nothing was. */
  noted(launchId: number, name: string): string | null;
  /** What its script, or anybody as its user, has written; at most 64 KiB; null: no such file. */
  read(launchId: number, name: string): string | null;
  /** True for the one who makes it; of all that try, on any node, only one does. */
  claim(launchId: number): boolean;
  remove(launchId: number): void;
}

/** What a gateway has written down of nodes that it has stopped, on a disk of its own. */
export interface SiteNotes {
  /** By node. */
  all(): ReadonlyMap<string, string>;
  /** Whole or not at all, and on the disk before it returns. */
  write(node: string, text: string): void;
  remove(node: string): void;
}
