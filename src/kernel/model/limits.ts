// Every number that bounds something, each with the reason for it.

/** Tasks in one array. A listing of all of them must still fit a reply page by page. */
export const ARRAY_TASKS_MAX = 1_000_000;
/** Fields of one item of a job: more is a file to be read, not a command line. */
export const ITEM_FIELDS_MAX = 100;
/** Largest array index; keeps `42[123456789]` within the id parser. */
export const ARRAY_INDEX_MAX = 999_999_999;
/** One argument or `NAME=value` with its NUL: MAX_ARG_STRLEN of execve(2). */
export const LAUNCH_STRING_BYTES_MAX = 131_072;
/**
 * Arguments and environment of one process: a launcher's frame has 1 MiB, of which the node's own
 * variables and paths may take a quarter; execve(2) allows 2 MiB with the usual stack limit.
 */
export const LAUNCH_BYTES_MAX = 786_432;
/** The same for all processes of a task on a node: its agent and launcher hold them at once. */
export const LAUNCH_BYTES_PER_NODE_MAX = 64 * 1_048_576;
/** Text of a submitted script; larger programs are files, not scripts. */
export const SCRIPT_BYTES_MAX = 1_048_576;
/** A whole API request: a script and an environment with room to spare. */
export const REQUEST_BYTES_MAX = 8 * 1_048_576;
/**
 * Body of a request that needs no credentials, or whose route takes none: two secrets and room.
 * Many strangers may send at once.
 */
export const OPEN_REQUEST_BYTES_MAX = 16_384;
/**
 * Different names of fields in one body, each counted with those before it in its object: a hundred
 * environments that have nothing in common. A hundred times as many take seconds to parse.
 */
export const BODY_NAMES_MAX = 50_000;
/** Lists and objects within each other in one body. */
export const BODY_DEPTH_MAX = 200;
/** Variables of one process: execve(2) takes more, and nobody has more than some hundreds. */
export const ENVIRONMENT_MAX = 10_000;
/** Kinds of counted resources of one request; a node has a few. */
export const COUNTED_MAX = 32;
/** Characters of all labels of one job: they stand in each list of jobs. */
export const LABELS_TOTAL_MAX = 4096;
/** How long a client that is refused while it still sends may take to notice: it may be busy. */
export const ANSWER_LINGER_MS = 2000;
/** A request to the head is given up then, where nothing is configured: answers take seconds. */
export const CLIENT_TIMEOUT_MS = 30_000;
/** One message between head and agent: many launch orders, or a hello with 10,000 held epochs. */
export const MESSAGE_BYTES_MAX = 16 * 1_048_576;
/** What a cap may be at most: beyond any cluster this serves. */
export const CAP_MAX = 10_000_000;
/** Nodes one task may ask for; beyond any cluster this serves. */
export const NODES_PER_TASK_MAX = 10_000;
/** Processes per node of one task. */
export const PROCESSES_PER_NODE_MAX = 4096;
/** Ranks of all nodes of one task. */
export const MPI_RANKS_MAX = NODES_PER_TASK_MAX * PROCESSES_PER_NODE_MAX;
/** Dependencies of one job. */
export const DEPENDENCIES_MAX = 1000;
/** Further epochs a user may ask for; a task that fails that often needs a person. */
export const RETRIES_MAX = 1000;
/** An expression over labels that a job asks for; people write them by hand. */
export const LABELS_LENGTH_MAX = 500;
export const NICE_MAX = 100;
/** Highest tier of a partition or QoS, above and below 0; far more than anybody ranks. */
export const TIER_MAX = 1000;
/** Cpus of one node, asked for or offered: beyond any machine, and small enough to count with. */
export const CPUS_PER_NODE_MAX = 1_000_000;
/** 1 PiB. */
export const MEMORY_PER_NODE_MAX = 2 ** 50;
/** Each gpu of a node is listed by itself. */
export const GPUS_PER_NODE_MAX = 100_000;
/** Types of gpus of which a job takes any: more than a site buys in the life of a job. */
export const GPU_TYPES_MAX = 16;
/** Amount of one counted resource on a node; sums over all nodes stay exact. */
export const COUNTED_PER_NODE_MAX = 1e12;
/** Labels, and likewise shared directories, that one agent brings. */
export const NODE_WORDS_MAX = 1000;
/** Length of one of them: the longest path Linux takes. */
export const NODE_WORD_LENGTH_MAX = 4096;
/** Cards that one agent tells of, parts of cards among them. */
export const CARDS_PER_NODE_MAX = 1024;
/** Processes of one card that are told: people want to know who, not all. */
export const CARD_USERS_MAX = 8;
/** Words on how a node is set up for its cards. */
export const GPU_NOTES_MAX = 8;
/** Detectors of one node, one for each display among them. */
export const PRESENCES_MAX = 64;
/** Tasks whose memory one heartbeat tells: some 100 KiB; of more on one node nobody reads each. */
export const MEMORY_USES_MAX = 1000;
/** Nodes of one site, and queues; what a gateway says of more is refused. */
export const SITE_NODES_MAX = 20_000;
/** Jobs in one message of a gateway. */
export const SITE_JOBS_PER_MESSAGE_MAX = 1000;
/** Tasks with which a gateway says that its site does not do something: many have one cause. */
export const SITE_UNDONE_MAX = 100;
/** Jobs of one site that the head keeps in mind. */
export const SITE_JOBS_MAX = 200_000;
/** Job names are shown in tables and used in file patterns. */
export const NAME_LENGTH_MAX = 200;
/** A comment stays in memory and in the history with its job: a sentence or two, no document. */
export const COMMENT_BYTES_MAX = 1024;
/** An operator's notice: a few lines on a terminal, beside what the user has asked for. */
export const NOTICE_LENGTH_MAX = 500;
/** Targets that are told of one job: a group has a room or a list. */
export const NOTIFY_TARGETS_MAX = 10;
/** Notifications in memory; those that are over leave it first. */
export const NOTIFICATIONS_KEPT_MAX = 20_000;
/** Waiting for one target: a webhook that was dead for hours is not flooded for hours. */
export const NOTIFICATIONS_WAITING_MAX = 10_000;
/** Told in one message of a chat or mail; who reads more than that? */
export const NOTIFICATIONS_PER_MESSAGE_MAX = 20;
/** Between two attempts to tell somebody; twice as long after each failure. */
export const NOTIFY_PAUSE_MIN_MS = 10_000;
export const NOTIFY_PAUSE_MAX_MS = 3_600_000;
/** With these pauses some four days, beyond any `notify.give_up_after` that helps. */
export const NOTIFY_TRIES_MAX = 100;
/** Submission keys remembered, newest first: at 1,000 jobs/s still minutes of retries. */
export const SUBMISSION_KEYS_MAX = 100_000;
/** Starts planned in one cycle before the event loop gets its turn. */
export const STARTS_PER_CYCLE_MAX = 512;
/** Tasks that are made next on nodes in one cycle. */
export const NEXT_PER_CYCLE_MAX = 512;
/** Tasks of one job that are next on one node. */
export const NEXT_PER_NODE_MAX = 256;
/** Work of a node, at the job's pace, that may be next there: others wait for a place no longer. */
export const NEXT_AHEAD_MS = 500;
/** A job whose tasks run longer has none next: what it loses between two of them is nothing. */
export const NEXT_TASK_MS_MAX = 2_000;
/** A node gives back what is next for longer: the tasks before it run longer than thought. */
export const NEXT_WAIT_MS_MAX = 2_000;
/** Looks at nodes in one cycle before the event loop gets its turn: some 20 ms. */
export const LOOKS_PER_CYCLE_MAX = 100_000;
/** Looks that a task costs for which no node is looked at. */
export const LOOKS_PER_TASK = 20;
/** Looks that it costs to compare a node with all others that fit, where each has merits. */
export const LOOKS_PER_SORTED = 4;
/** Looks that it costs to see one node's future for the first time in a cycle. */
export const LOOKS_PER_LANE = 20;
/** And to search it for room, each time. */
export const LOOKS_PER_SEARCH = 2;
/**
 * Parts of tasks, one a node, that `conservative` sets aside for later: as many as the largest
 * cluster has nodes. A cycle that goes on from another looks at each again, for some 50 ms.
 */
export const PARTS_AHEAD_MAX = 10_000;
/** One part in so many of a cycle that goes on from another is for the front of the line. */
export const FRONT_PART = 4;
/** Jobs of one batch: beyond this a listing of its files is no longer read by anybody. */
export const BATCH_JOBS_MAX = 100_000;
/** Arrays of one batch: each is a job of the cluster, with a script of its own. */
export const BATCH_PARTS_MAX = 1000;
/** A submission of so many jobs. */
export const BATCH_BYTES_MAX = 64 * 1_048_576;
/** Batches in memory; those that ended first are forgotten first, their archives stay. */
export const BATCHES_KEPT_MAX = 1000;
/** Workers of one pool: the head talks to each. */
export const POOL_WORKERS_MAX = 10_000;
/** Pools of one user at once; each may keep functions and shared values in the head's memory. */
export const POOLS_PER_USER_MAX = 32;
/** Longest idle time of a worker: who wants more says how many stay. */
export const POOL_IDLE_MS_MAX = 30 * 86_400_000;
/** A worker that ends badly sooner than this never got to work. */
export const POOL_SETTLED_MS = 10_000;
/** Launch failures in a row, of any tasks, before a node is drained. */
export const NODE_LAUNCH_FAILURES_MAX = 3;
/** Added to a lease before the head acts on it: an agent's timers may run this late. */
export const LEASE_MARGIN_MS = 5_000;

/** Below this a node takes no new work: a burst of output and scripts would fill what is left. */
export const NODE_DISK_FREE_BYTES_MIN = 16 * 1_048_576;

/** Bytes on a node, as many as the head keeps of all jobs: what waits must find room there. */
export const SPOOL_BYTES_MAX = 10 * 1024 * 1_048_576;
/** Maintenances that are over and still shown. */
export const MAINTENANCES_KEPT_MAX = 100;
/** Longest maintenance: beyond it a node should be removed, not waited for. */
export const MAINTENANCE_MAX_MS = 365 * 86_400_000;
/** Reservations alive at once: each is looked at in every cycle and by every node it is on. */
export const RESERVATIONS_MAX = 1000;
/** Coming occurrences of a recurring reservation that are set aside: a week of a daily one. */
export const RESERVATION_SLOTS_AHEAD = 7;
/** Reservations whose skipped occurrences are tried again in one tick. */
export const RESERVATION_RETRIES_MAX = 10;
/** Nodes that they look at together, up to 10 us each: the head has other things to do. */
export const RESERVATION_LOOKS_PER_SECOND_MAX = 2_000;
/**
 * A clock that was set by less is taken as it is: it shifts no duration by more than people notice,
 * and the ends that a machine reads off two clocks differ by as much when it is busy.
 */
export const CLOCK_STEP_MIN_MS = 1000;
/** Enough to see what somebody has tried. */
export const CLOCK_STEPS_KEPT_MAX = 10;
/** Set forward by so much, a clock may have been set by mistake … */
export const CLOCK_DOUBT_MIN_MS = 10 * 60_000;
/** … which is believed when nobody has taken it back for so long. */
export const CLOCK_DOUBT_MS = 3_600_000;
/** Past occurrences that a recurring reservation remembers: against a clock set back. */
export const RESERVATION_HELD_MAX = 100;
/** Occurrences without room that are remembered to be shown. */
export const RESERVATION_SKIPPED_MAX = 10;

/**
 * A time that was right when it was said, as `a window of two hours from now for two hours`, still
 * is when it is heard so much later.
 */
export const ON_THE_WAY_MS = 10_000;

/** Usage (ms of one cpu) of fair share below which whoever has no jobs is forgotten: one second. */
export const FORGOTTEN_USAGE_MS = 1000;
/** Tasks planned ahead to tell when one more would start: beyond, the answer is a guess anyway. */
export const FORECAST_TASKS_MAX = 500;
/** Tasks of each group whose owner's limit lets in one by one: who comes later is far away. */
export const FORECAST_DELAYED_MAX = 20;
/** Looks at nodes for it: some 10 ms whatever the cluster. */
export const FORECAST_LOOKS_MAX = 50_000;
/**
 * Looks at nodes to tell what those before a task leave over for it: some 20 ms, or 0.1 s where
 * they search for others to make room.
 */
export const TURN_LOOKS_MAX = 100_000;
/** Looks at nodes after which a forecast gives up, also in the middle of a search: some 100 ms. */
export const FORECAST_SLOT_LOOKS_MAX = 400_000;
/** Looks at nodes to tell with which smaller request it would start: some 60 ms. */
export const WHAT_IF_LOOKS_MAX = 250_000;
/**
 * Tasks for which others may be leaving at one time: each costs its share of every cycle until it
 * starts, and the next one's turn comes as soon as the first have left, within a kill grace.
 */
export const PREEMPTORS_MAX = 256;
/**
 * Nodes that have changed, times searches remembered as hopeless, that one cycle looks at again:
 * some milliseconds. With more the memory is trusted until its cycles are through.
 */
export const ROOM_LOOKS_AGAIN_PER_CYCLE_MAX = 2_000;
/**
 * Connections of one address that have proven nobody yet: as many as a site behind one address has
 * under way at once when its head comes back. Those beyond try again a moment later.
 */
export const NEWCOMERS_PER_ADDRESS_MAX = 256;
/** Connections of all addresses together: few of a service's 65,536 descriptors, half of 4,096. */
export const NEWCOMERS_MAX = 2048;
/**
 * Connections from the head's own machine, besides: a thousand commands that wait for jobs there
 * come back at once when their head does.
 */
export const LOCAL_NEWCOMERS_MAX = 1280;
/**
 * Time for a handshake and a header over a slow line, or for a login when a thousand come at once:
 * a younger connection is not ended for another one.
 */
export const NEWCOMERS_GRACE_MS = 2000;
/** Connections that the kernel keeps until taken; a busy head takes them a moment later. */
export const LISTEN_BACKLOG = 4096;

/** Kept for whoever is about to name them: the files of a job that is being submitted. */
export const BLOB_IDLE_MS = 86_400_000;
/** The same when room is short: longer than it takes to submit once all files are there. */
export const BLOB_IDLE_PRESSED_MS = 3_600_000;
/** Below it the head's disk is for its journal only: a journal unwritten stops everything. */
export const BLOB_DISK_FREE_BYTES_MIN = 256 * 1_048_576;
/**
 * A connection that brings so little of a file in so long is dead, or holds its place for nothing:
 * a line of 9,600 baud brings as much. What came is kept; its sender goes on with another.
 */
export const BLOB_STALL_MS = 60_000;
export const BLOB_STALL_BYTES = 64 * 1024;
/** Hashes in one question: 10,000 are some 700 KB. */
export const BLOBS_ASKED_MAX = 10_000;
/** Incomplete uploads of one user; each keeps a file on the head for a day. */
export const BLOB_UPLOADS_PER_USER_MAX = 1000;
/** Larger contents travel by themselves, and go on where a line broke; these are sent again. */
export const BLOB_PACKED_BYTES_MAX = 256 * 1024;
/** On the head, contents up to this size share a file: one each would cost more than it holds. */
export const PACKED_SIZE_MAX = 16 * 1024;
/** Contents in packs at most: each takes some 200 bytes of memory; further ones are files. */
export const PACKED_CONTENTS_MAX = 100_000;
/** Contents of a task's outputs that come with the list of them, together; and how many. */
/**
 * Output up to this size goes with the end of its task, if that comes soon, and shares a file with
 * others on the head: a line for each of some hundred steps fits.
 */
export const SMALL_OUTPUT_BYTES_MAX = 16 * 1024;
export const OUTPUTS_INLINE_BYTES_MAX = 64 * 1024;
export const OUTPUTS_INLINE_MAX = 64;
/** Entries of a job's files, and of what it leaves behind: more belongs into a tar archive. */
export const FILE_ENTRIES_MAX = 100_000;
/** Text of a list of files: 100,000 entries with long paths. */
export const FILE_SET_BYTES_MAX = 64 * 1_048_576;
/** PATH_MAX and NAME_MAX of Linux. */
export const FILE_PATH_BYTES_MAX = 4095;
export const FILE_NAME_BYTES_MAX = 255;
/** Folders above a file of a job. */
export const FILE_DEPTH_MAX = 200;
/** Characters that say why a file of a task was not kept. */
export const LEFT_OUT_WHY_MAX = 1000;
/** Patterns of a job's outputs; people write them by hand. */
export const OUTPUT_PATTERNS_MAX = 1000;

/** Arguments or result of a call that travel with it; larger ones wait until they are wanted. */
export const CALL_INLINE_BYTES_MAX = 64 * 1024;
/** One piece of a large payload: many small messages get their turn between two of them. */
export const CALL_PIECE_BYTES_MAX = 256 * 1024;
/** A payload is in memory as a whole, twice at its worker: larger data are files. */
export const CALL_BYTES_MAX = 1024 * 1_048_576;
/** A frame is closed at this size: a tick of small calls, few milliseconds of work. */
export const CALL_FRAME_BYTES = 256 * 1024;
/** A frame with one more large message than that in it, or the hello of a full worker. */
export const CALL_FRAME_BYTES_MAX = 2 * 1_048_576;
/** More than a writer's frame holds, but for pings; a million of them took the head 0.3 s. */
export const CALL_FRAME_MESSAGES_MAX = 65_536;
/** Words that say what happened: an error's last lines, not a log. */
export const CALL_WORDS_BYTES_MAX = 8192;
/** Shared values that one call uses. */
export const CALL_SHARED_MAX = 1000;
/** Bytes of a stream on their way: 2 GiB/s at 1 ms, and little beside many workers. */
export const CALL_STREAM_BYTES_MAX = 2 * 1_048_576;
/** Streams that one side has asked for on one line. */
export const CALL_STREAMS_MAX = 256;
/** Calls of a client that wait at the router; the rest waits at the client. */
export const CALL_WINDOW_CALLS = 2000;
export const CALL_WINDOW_BYTES = 8 * 1_048_576;
/** Ends that a client has not acknowledged; until it does, no more of its calls start. */
export const CALL_UNACKED_MAX = 4000;
export const CALL_UNACKED_BYTES_MAX = 8 * 1_048_576;
/** Work ahead at a worker, so that it is never idle for a round trip: no longer than this. */
export const CALL_AHEAD_MS = 5;
export const CALL_AHEAD_MAX = 64;
export const CALL_AHEAD_BYTES_MAX = 1_048_576;
/** A worker that ended nothing for so long gives work ahead back when another is idle. */
export const CALL_RECALL_MS = 20;
/** Large results that a worker keeps until clients have them; beyond it no further call starts. */
export const CALL_HELD_BYTES_MAX = 128 * 1_048_576;
/** Functions and shared values that one session names. */
export const CALL_ASSETS_MAX = 10_000;
/** Bytes of assets that a router, and likewise a worker, keeps to hand out again. */
export const CALL_ASSET_BYTES_MAX = 256 * 1_048_576;
/** The same for all pools of a head together. */
export const CALL_ASSETS_ALL_BYTES_MAX = 1024 * 1_048_576;
/** Further attempts that a call may ask for. */
export const CALL_RETRIES_MAX = 1000;
/** Pings; and how long a line may be silent before it is taken for dead. */
export const CALL_HEARTBEAT_MS = 2000;
export const CALL_SILENT_MS = 10_000;
/** A client without a line is given up after this. */
export const CALL_CLIENT_AWAY_MS = 10_000;
/** A client fell silent, as its machine sleeps or is cut off: it may come back with its calls. */
export const CALL_CLIENT_SILENT_MS = 180_000;
/** A worker is given up after this, if nobody has said before what became of it. */
export const CALL_WORKER_AWAY_MS = 60_000;
/** How long a router that starts waits for the workers that should be there. */
export const CALL_RECOVERY_MS = 20_000;
/** Sessions that are over and remembered, by a router and by each worker. */
export const CALL_OVER_MAX = 1000;
/** Work that waits for longer than this is a reason for one more worker. */
export const CALL_BACKLOG_MS = 1000;
/** Between telling a function that it should end, and killing its process. */
export const CALL_GRACE_MS = 1000;
/** A process for calls that is not ready by then hangs: on a busy machine it takes seconds. */
export const CALL_CHILD_START_MS = 60_000;
/** Calls of a pool within calls of it on one worker: each takes a process in its memory. */
export const CALL_DEPTH_MAX = 8;
/** A process for inner calls that has had none for so long is ended: it holds memory. */
export const CALL_SEAT_IDLE_MS = 10_000;
/** A pool for one program ends when nobody is connected for so long; programs wait two minutes. */
export const POOL_ABANDONED_MS = 180_000;
/** Calls that a worker's child has, the running one included: enough to be never idle. */
export const CALL_HANDED_MAX = 16;
/** A call that runs for longer is told to have started; of shorter ones the end says enough. */
export const CALL_TOLD_AFTER_MS = 20;

/** Fleets of pilots at once; each is asked after every few seconds. */
export const FLEETS_MAX = 100;
/** Fleets that are over of which the head knows that there were such. */
export const ENDED_FLEETS_MAX = 1000;
/** Pilots of a fleet: an array job of Slurm has 1,001 elements unless its site allows more. */
export const PILOTS_MAX = 1000;
/** Starts that fail in a row before a fleet starts no more: a fourth time would be the same. */
export const PILOT_FAILURES_MAX = 3;
/** After the first failed start; twice as long after each further one. */
export const PILOT_RETRY_MS = 1000;
/** What runs to the last moment has that long to end and tell of it before its pilot is ended. */
export const PILOT_END_MARGIN_MS = 5000;
/** Less time is not worth the start of a pool's worker, which has no time limit of its own. */
export const WORKER_WORTH_MS = 20_000;
/** How long the token of a launch is good while its jobs wait at their batch system. */
export const PILOT_QUEUE_MAX_MS = 7 * 86_400_000;
/** Longest and shortest time of a pilot. */
export const PILOT_WALLTIME_MIN_MS = 60_000;
export const PILOT_WALLTIME_MAX_MS = 366 * 86_400_000;
/** Words, and characters in each, that are passed on to a batch system or to docker. */
export const PILOT_WORDS_MAX = 100;
export const PILOT_WORD_LENGTH_MAX = 1000;

/** A start, an end or the keeping of files that takes longer is explained: most take a second. */
export const LONG_WAIT_MS = 60_000;
/** What the address of a unix socket has room for, without the final NUL (unix(7)). */
export const SOCKET_PATH_BYTES_MAX = 107;

/** How long a task that needs no gpus lets later tasks that do go first on a node that has some. */
export const GPUS_FIRST_MS = 86_400_000;
