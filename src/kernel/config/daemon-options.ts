// What the command line tells the programs that it starts: the head's and the agent's options, and
// how the bin folder hands their entry points over.

import type { ContainerRuntime } from '../model/container-runtime.ts';
import type { Resources } from '../model/resources.ts';
import type { Settings } from '../model/settings.ts';
import type { JournalReading, StoreReading } from '../model/store-reading.ts';
import type { Written } from './compare.ts';
import type { ConfigOrigin } from './config.ts';

export interface HeadAddress {
  readonly host: string;
  readonly port: number;
  /** Where that port is taken a free one nearby will do, or any. */
  readonly orNear?: boolean;
}

/**
 * Everything a head is told at its start; plain JSON, so that it can stand in a file. Wings add to
 * it by declarations of their own, and so to what an agent is told.
 */
export interface HeadOptions {
  /** Where the configuration came from, for reading it again. */
  readonly config: ConfigOrigin & { readonly directory: string; readonly written: Written };
  /** State directory, 0700: `weft.db`, `logs/`, `tls/` (`certificate.pem`, `key.pem`). */
  readonly directory: string;
  readonly clusterName: string;
  /** Unix socket for users of this machine; an old one in its place is replaced. */
  readonly socketPath: string;
  /** TLS port; null = the unix socket only. The certificate is made at the first start. */
  readonly listen: HeadAddress | null;
  /** Names and addresses that a new certificate names, and that join tokens carry first. */
  readonly publicNames: readonly string[];
  /** False: one user's cluster (`weft up`), where everything runs as the one who started it. */
  readonly multiUser: boolean;
  /** What the head shows as its own, where the site says it. Absent: what the machine has. */
  readonly capacity?: Partial<Pick<Resources, 'cpuCount' | 'memoryBytes'>>;
  readonly settings: Settings;
  /** The site's fence command, without a shell; null = none. */
  readonly fence: { readonly command: readonly string[]; readonly timeoutMs: number } | null;
  /** How often agents say that they live; part of their welcome. */
  readonly heartbeatMs: number;
  /** The longest time between two looks at timers and queue; most work starts at once by events. */
  readonly tickMs: number;
  /** JSON lines; null = standard error. Opened again on SIGHUP. */
  readonly logFile: string | null;
  readonly auditFile: string | null;
  /** Requests a second and user. */
  readonly requestRateMax: number;
  /** Captured output kept: per file of a process, and of all jobs together. */
  readonly logBytesMax: number;
  readonly logBytesTotalMax: number;
  /** File contents kept of all jobs together. */
  readonly blobBytesMax: number;
  /** Room of one user; null: a share of all. */
  readonly userFilesBytesMax?: number | null;
  /** What tasks left behind, kept of all jobs together, and for how long. */
  readonly archiveBytesMax: number;
  readonly archiveAgeMs: number;
  /** A folder where namespaces of batches are shown too, and names there that are taken. */
  readonly resultsIn?: { readonly folder: string; readonly taken: readonly string[] };
  /** State directory of `weft up`, whose other daemons this one starts again when they die. */
  readonly keeps?: string;
  /** Go on without records that are missing; for one start. */
  readonly acceptLoss?: boolean;
  /** Make a new key and certificate where they are missing; for one start. */
  readonly newIdentity?: boolean;
}

export interface HealthOptions {
  readonly command: readonly string[];
  readonly timeoutMs: number;
  readonly intervalMs: number;
}

/** What a node keeps for the tasks to come; what is absent has its default. */
export interface CacheOptions {
  /** Quota of the cache of files; absent: a share of the disk. */
  readonly cacheBytesMax?: number;
  /** Quota of builds of solvers; absent: a share of the disk. */
  readonly buildsBytesMax?: number;
  /** A build that nobody used for so long goes. */
  readonly buildsAgeMs?: number;
}

/** Everything an agent is told at its start (bin/agent-options.ts reads it). */
export interface AgentOptions extends CacheOptions {
  readonly name: string;
  /** Words on a name that the configuration has, and the node has not; absent: nothing is wrong. */
  readonly otherName?: string;
  readonly stateDir: string;
  /** Absent: the default. */
  readonly spoolBytesMax?: number;
  /** The site's health command, without a shell; absent = none. */
  readonly health?: HealthOptions;
  /** One of the two ways to the head. */
  readonly head:
    | {
        readonly url: string;
        /** Other addresses of the head, tried in turn; absent: it has none. */
        readonly others?: readonly string[];
        readonly fingerprint?: string;
      }
    | { readonly socketPath: string };
  readonly secret: string;
  /** Declared; what is not said is what the agent finds on the machine. */
  readonly resources?: Partial<Resources>;
  /** The machine's number of its first gpu; absent = 0. */
  readonly gpuFrom?: number;
  readonly labels: readonly string[];
  readonly sharedPaths: readonly string[];
  /** PATH of jobs; absent: the usual folders. */
  readonly jobPath?: string;
  readonly switchUser: 'auto' | boolean;
  /** The agent's processes end with it, whatever signal it gets: nobody comes back to them. */
  readonly leaves?: true;
  readonly logFile?: string;
  /** The same as the head's: all nodes of a process say the same. */
  readonly keeps?: string;
}

/** What `src/bin` gives to the command line, which may not import it. */
export interface Programs {
  /** Scripts for detached starts; each takes the path of a file with its options as JSON. */
  readonly headScript: string;
  readonly agentScript: string;
  /** In this process; resolve when a signal has stopped the program in good order. */
  runHead(options: HeadOptions, onServing: () => void): Promise<void>;
  runAgent(options: AgentOptions): Promise<void>;
  /** Which machine this is, as its agent says it; `folder`: the agent's, null: there is none. */
  machineIdentity(folder: string | null): Promise<{ bootId: string; folder?: string }>;
  /** What this machine has for nodes. */
  detectMachine(): Promise<Resources>;
  /**
   * Ends every process that has this variable in its environment. `lived`: how many had it;
   * `unknown`: how many were in the middle of an exec and showed nothing. Both 0: there is none.
   */
  endMarked(variable: string): Promise<{ readonly lived: number; readonly unknown: number }>;
  /** What it can run containers with, for who asks. */
  findContainerRuntimes(): Promise<ContainerRuntime[]>;
  /** Whether this release reads the store in a head's folder, of which nothing is changed. */
  readStore(directory: string): Promise<StoreReading>;
  /** The same of the journals of agents that have their state in the folder. */
  readJournals(directory: string): Promise<JournalReading[]>;
}
