// What the codes of model/errors.ts mean to somebody who meets one, and what to do then. Kept
// apart from the codes because it is for people only; a code without its entry does not compile.

import type { Code } from '../../src/kernel/model/errors.ts';

export interface ErrorHelp {
  /** When it is said, where the message alone does not tell. */
  readonly means: string;
  /** The next step of whoever reads it. */
  readonly next: string;
}

export const ERROR_HELP: Readonly<Record<Code, ErrorHelp>> = {
  'argument.invalid': {
    means: 'A flag, a field of a request or a word of a command cannot be what it is.',
    next: 'The message names the field and what was expected; `--help` shows the accepted forms.',
  },
  'request.malformed': {
    means: 'The body of a request is not JSON, or what came in is not HTTP at all.',
    next: 'Send one JSON value in UTF-8. Our own client never does this: look for a proxy between.',
  },
  'request.too_large': {
    means: 'The head reads no request beyond this size, and closed the connection.',
    next: 'Send several smaller requests, or put large input into files.',
  },
  'config.invalid': {
    means: 'A configuration file or a line of a job script has an unknown key or a wrong value.',
    next: 'Mend the line that is named; all problems of a file are listed at once.',
  },
  'batch.invalid': {
    means:
      'A batch file has an unknown key, a wrong value or a missing file; each line is one problem.',
    next: 'Mend what is named; `weft batch check FILE` looks again, `weft batch template` shows a right one.',
  },
  'batch.file_changed': {
    means:
      'All jobs of a batch are given the same files, and this one was being written meanwhile.',
    next: 'Wait until it is written, then start the batch again.',
  },
  'batch.exists': {
    means: 'Results of two runs are never mixed in one folder.',
    next: '`--resume` runs only what did not complete; `--new-version` begins beside it, as `sweep_01@2`.',
  },
  'batch.changed': {
    means:
      'The solver, a file or an argument is another than that with which these jobs completed.',
    next: 'Undo the change to resume, or begin anew beside it with `--new-version`.',
  },
  'batch.busy': {
    means: 'Two runs of one batch would write into the same folders.',
    next: 'Wait for the other one or end it; `--save-dir` keeps results somewhere else.',
  },
  'batch.dependency_unmet': {
    means: 'The batch file says `after:`, and the results of that batch are not all there.',
    next: 'Run that batch first, into the same archive.',
  },
  'batch.not_found': {
    means:
      'No batch of this name is known: it was never submitted, was removed, or ended long ago.',
    next: '`weft batch list` shows those that are known.',
  },
  'batch.not_owner': {
    means:
      'Only its owner may submit, retry and remove a batch; operators may cancel and remove it.',
    next: 'Ask its owner, or take another namespace.',
  },
  'batch.taken': {
    means: 'Results of two runs are never mixed under one name.',
    next: '`--resume` runs only what did not complete; `--new-version` begins beside it, as `sweep_01@2`.',
  },
  'pool.not_found': {
    means: 'No pool of yours that lives has this name, and no job of this number is a pool.',
    next: '`weft pool list` shows yours; pools of others are found by their number alone.',
  },
  'pool.name_taken': {
    means: 'By its name programs find a pool that runs, so there is one of a name.',
    next: 'Use the pool that is there, stop it, or give another name.',
  },
  'pool.too_many': {
    means: 'Each pool may keep functions and shared values in the memory of the head.',
    next: 'Stop pools that are done with: `weft pool list`, `weft pool stop POOL`.',
  },
  'pool.too_many_clients': {
    means: 'Each program that has a pool open holds a connection of the head.',
    next: 'End programs that are done with it (`weft calls POOL`), or start another pool.',
  },
  'job.is_pool': {
    means: 'A pool is a job, but how many workers it has is moved by its calls, within bounds.',
    next: '`weft pool scale` changes the bounds; `weft pool start` starts another pool.',
  },
  'step.not_found': {
    means: 'No step of this id was heard of since the head started, or it was long ago.',
    next: '`weft job ID` lists the steps of a job.',
  },
  'step.lost': {
    means:
      'It was not started there, for the reason that is told, or what knew of its end is gone: its agent was killed, or its task ended first.',
    next: 'Mend what is told and start it once more; what the step itself has written to files is there.',
  },
  'step.over': {
    means: 'Its output goes to whoever started it, once: it was read, or nobody came for it.',
    next: '`weft job ID` shows how it ended; start it once more to see what it writes.',
  },
  'step.ended': {
    means: 'Only a step that runs can be ended or get a signal.',
    next: '`weft job ID` lists the steps of a job, and how they ended.',
  },
  'step.too_many': {
    means: 'Each step has a helper on its node and a line through the head.',
    next: 'Wait for some of them to end, or start more processes in one step: `weft exec -n`.',
  },
  'step.not_running': {
    means:
      'A step runs inside of what its task holds: before the start and after the end there is nothing.',
    next: '`weft why ID` says why a task waits; try again when it runs.',
  },
  'step.not_here': {
    means:
      'What runs at another site or in a container of its own cannot be joined by a program of the node.',
    next: 'Log in there by the means of that site, or submit the program as a job.',
  },
  'step.node_away': {
    means:
      'The node is not connected, or its agent is of an earlier release, which knows no steps.',
    next: '`weft node list` shows it; try again when it is back.',
  },
  'pilot.not_found': {
    means: 'No fleet of pilots of this name is there any more.',
    next: '`weft pilot list` shows those that are.',
  },
  'pilot.name_taken': {
    means: "Nodes of pilots are called by their fleet's name, and two nodes cannot have one name.",
    next: 'Give another `--name`, or leave it out.',
  },
  'pilot.too_many': {
    means: 'The head asks after the jobs of each fleet every few seconds.',
    next: 'Stop fleets that are done with: `weft pilot list`, `weft pilot stop FLEET`.',
  },
  'pilot.refused': {
    means: 'The batch system did not take the job, for the reason that it gives.',
    next: 'Change what it names: the partition or queue, the time, words given with `--options`.',
  },
  'pilot.no_address': {
    means: 'Pilots run on other machines and connect to the head by its port.',
    next: 'Give the head one: `weft up --listen HOST:5001`, or `head.listen` for `weft head`.',
  },
  'backup.nowhere': {
    means: 'The configuration names no folder for backups, and the command named none.',
    next: 'Give one with `weft backup --to FOLDER`, or set `backup.to`.',
  },
  'backup.busy': {
    means: 'The head makes one backup at a time.',
    next: 'Wait until it is made; `weft doctor` tells.',
  },
  'backup.failed': {
    means: 'The head could not read its files or write the backup; nothing of it is left.',
    next: 'Do what the message says; the folder must be writable for the user of the head.',
  },
  'backup.damaged': {
    means: 'A file of the backup is missing, or differs from what was written.',
    next: 'Take another backup: `weft backup --list` shows them, `weft restore --check` tries one.',
  },
  'restore.not_empty': {
    means: 'A head, or what is left of one, is in the folder.',
    next: 'Give another folder with `--dir`, or move the old one away.',
  },
  'restore.no_room': {
    means: 'The disk has less room than the backup needs.',
    next: 'Make room, or put it back on another disk with `--dir`.',
  },
  'batch.not_done': {
    means: 'Only a batch that is over can be removed.',
    next: 'Wait for it, or end it with `weft batch cancel`.',
  },
  'batch.nothing_to_run': {
    means: 'All jobs of the batch completed, wait or run.',
    next: 'Wait for what still runs; `--new-version` runs all of it again.',
  },
  'batch.no_build': {
    means: 'Only a solver of the kind `build` is prepared on nodes.',
    next: 'Nothing is to be done; an image is taken as it is.',
  },
  'batch.not_retained': {
    means: 'The head keeps the specification of past jobs for a time only.',
    next: '`weft batch submit --resume FILE` runs it again from its files.',
  },
  'batch.not_an_export': {
    means:
      'An export writes over what an earlier one of the same batch has written, and over nothing else.',
    next: 'Name another folder, or empty this one.',
  },
  'batch.not_archived': {
    means: 'The disk is full or a folder cannot be written; what was archived before is whole.',
    next: 'Make room, then go on with `--resume`.',
  },
  'batch.build_failed': {
    means:
      'The program that prepares the solver ended with another exit code than 0, or could not be started.',
    next: 'Read its log, mend the program, and start the batch again with `--resume`.',
  },
  'config.not_taken': {
    means: 'The file is wrong somewhere; the head goes on with what it had.',
    next: 'Mend what the message names; `weft config check` reads a file without taking it.',
  },
  'auth.required': {
    means: 'The request proves nobody: no token, an unfinished login, or a session that is over.',
    next: 'On the head’s machine just try again; elsewhere set `WEFT_TOKEN` (`weft token create`).',
  },
  'auth.token_invalid': {
    means: 'The head knows no such token; which of the three it is, strangers are not told.',
    next: 'Ask for a new one: `weft token create`, or `weft token join` for a machine.',
  },
  'auth.fingerprint_mismatch': {
    means: 'Another program answers at this address, or the head has a new certificate.',
    next: 'On the head’s machine `weft token join` carries the true one; trust no other.',
  },
  'auth.not_the_head': {
    means: 'A program between you and the head passes the login on, to act as you there.',
    next: 'Use the socket of the head itself; do not use the directory that led you here.',
  },
  'auth.foreign_host': {
    means: 'A name of somebody else may lead here, so the page is given under its own names only.',
    next: 'Open the address that `weft ui` prints; add a name of yours to `head.names`.',
  },
  'auth.fresh_login_needed': {
    means: 'Tokens and roles outlast the session of a browser, which another may have come by.',
    next: 'Use the command, `weft token create`; or run `weft ui` and do it right after.',
  },
  'auth.foreign_page': {
    means: 'Another web site, or the page under another address, sent a request with your session.',
    next: 'Open the page by the address that `weft ui` prints, and log in there.',
  },
  'auth.role_needed': {
    means: 'The action is for operators or admins.',
    next: 'Ask an admin to do it, or for the role: `weft user modify`.',
  },
  'auth.not_owner': {
    means: 'Only its owner, operators and admins may act on a job.',
    next: 'Check the job id; ask its owner or an operator.',
  },
  'auth.single_user': {
    means: 'Jobs of a cluster for one user run as that user, so nobody else is let in.',
    next: 'Start a cluster of your own (`weft up`), or a shared one with `weft init` as root.',
  },
  'auth.root_refused': {
    means:
      'Agents that run as root switch to the user of each job, and give nobody root. Nodes that do not switch users run jobs of root too, but none of those could hold this one.',
    next: 'Submit as an ordinary user (of an installed cluster: with an account on its nodes), or ask for less, so that another node can take it. `node.switch_user: false` in the config of a node of your own makes it run all jobs under the account of its agent.',
  },
  'job.not_found': {
    means: 'No job ever had this id, or the records of that time were removed.',
    next: '`weft jobs --all` and `weft history` list what there is.',
  },
  'job.is_array': {
    means: 'The request is for the output of one task, and the job has many.',
    next: 'Name the task, as 42[7]. `weft logs 42` shows the output of all tasks, one after another.',
  },
  'job.already_done': {
    means: 'Done is final: nothing about the job can change any more.',
    next: 'Submit it again if it should run once more.',
  },
  'job.not_done': {
    means: 'Only what is over can be run again: some of its tasks wait or run.',
    next: '`weft wait JOB` waits for its end; `weft requeue JOB` restarts what runs now.',
  },
  'job.nothing_to_retry': {
    means: 'A retry holds the tasks that did not complete, and there is none.',
    next: 'Submit the job again if all of it should run once more.',
  },
  'job.not_retained': {
    means: 'The environment of a job is kept only while the job is in the memory of the head.',
    next: 'Submit it again from where you submitted it.',
  },
  'job.dependency_broken': {
    means: 'The job that it waited for did not end as it had to, and done is final.',
    next: 'Retry that one first, then name it: `weft retry JOB --after OTHER`; or `--after none`.',
  },
  'job.not_pending': {
    means: 'The action is for jobs that have not started.',
    next: '`weft why JOB` tells where it is; `weft suspend` or `weft cancel` act on running jobs.',
  },
  'job.not_held': {
    means: 'There is no hold to release.',
    next: '`weft why JOB` names what it really waits for.',
  },
  'job.not_running': {
    means: 'The action needs processes, and the job has none now.',
    next: '`weft why JOB`; `weft wait JOB` for its end.',
  },
  'job.at_site': {
    means:
      'The system of that site runs the task, and suspends no jobs, or none like it, or passes no signals on for Weft. Of an array none of the tasks was touched.',
    next: '`weft cancel JOB` or `weft requeue JOB` end it there; else use the commands of the site itself (`weft job JOB` has its id there). Name tasks that run elsewhere one by one, as JOB[0].',
  },
  'job.not_fed': {
    means: 'The request sends standard input to a job that was not submitted with `stdin: "-"`.',
    next: 'Submit with `--stdin -`, or with `stdin` as `-` among the files of the submission.',
  },
  'job.not_suspended': {
    means: 'There is nothing to resume.',
    next: '`weft why JOB`; a held job is released, a suspended one resumed.',
  },
  'job.dependency_unknown': {
    means: 'A job can only wait for one that exists.',
    next: 'Check the id after `--after`.',
  },
  'key.taken': {
    means: 'The same owner sent this submission key before, with another command.',
    next: 'Send the same command to get the same job, or another key to get another job.',
  },
  'resources.unsatisfiable': {
    means: 'Even with every node empty the job could not start, so it is not accepted.',
    next: 'Ask for what the nearest node lacks no more, or enrol a bigger one; `weft node list -o wide` shows them.',
  },
  'resources.beyond_cluster': {
    means:
      'The site counts this for the whole cluster, and has fewer, so the job could never start.',
    next: 'Ask for fewer with `--resource`; `weft info` shows how many there are. An admin sets them in `cluster.resources`.',
  },
  'launch.too_large': {
    means:
      'Linux takes 128 KiB for one argument or variable; a process takes 768 KiB of both together, ' +
      'and all processes of a task on one node take 64 MiB.',
    next: 'Leave variables behind (`--clean-env`), pass long input in files, or start fewer processes.',
  },
  'notification.not_set_up': {
    means: 'The site has not configured this way of sending notifications.',
    next: 'Use another kind in `--notify`, or ask an admin for one; see `docs/notifications.md`.',
  },
  'notification.target_refused': {
    means: 'The site limits whom this cluster may notify, and the target is outside of that.',
    next: 'Name another target, or ask an admin to add it to the `notify` keys of the configuration.',
  },
  'notification.command_unknown': {
    means: 'Only commands that the site has configured can be run on the head.',
    next: 'Use one of the names in the message, or ask an admin to add it to `notify.commands`.',
  },
  'label.unknown': {
    means: 'The job would wait for ever: no node has this label.',
    next: '`weft node list` shows the labels; `weft node label` sets one.',
  },
  'label.unmet': {
    means: 'Nodes were to be chosen by labels, and none has the right ones now.',
    next: '`weft node list -o wide` shows the labels of each node.',
  },
  'partition.unknown': {
    means: 'The cluster has no partition of this name.',
    next: '`weft partition list` shows them; leave `--partition` out for the default one.',
  },
  'label.invalid': {
    means: 'An expression over labels cannot be read; the column says where.',
    next: 'Join labels with `&`, `|`, `!` and parentheses: `gpu & !old | big`.',
  },
  'partition.access_denied': {
    means: 'The config lets only some users and groups into this partition.',
    next: 'Use another partition, or ask an admin: groups of remote users are given by `weft user`.',
  },
  'partition.closed': {
    means: 'The partition is being drained or is switched off, by the config or by an operator.',
    next: 'Use another partition, or wait; `weft partition show` says who closed it.',
  },
  'partition.walltime_exceeded': {
    means: 'The job asks for more time than its partition allows to any job.',
    next: 'Ask for less with `--time`, or use another partition.',
  },
  'partition.nodes_exceeded': {
    means: 'A task asks for more nodes than its partition allows.',
    next: 'Ask for fewer with `--nodes`, or use another partition.',
  },
  'partition.memory_exceeded': {
    means: 'The job asks for more memory on a node than its partition allows.',
    next: 'Ask for less with `--memory`, or use another partition.',
  },
  'partition.unsatisfiable': {
    means: 'The partition has too few nodes of that size, even if all of them were idle.',
    next: 'Ask for less, or for another partition; `weft partition list` shows their nodes.',
  },
  'start.not_external': {
    means: 'A program asked for a start in a partition whose starts the head decides.',
    next: '`weft partition set NAME policy=external` hands the partition over; docs/schedulers.md tells more.',
  },
  'start.refused': {
    means:
      'The head judges each start that an external scheduler asks for; this one does not fit there now, or the job may not start.',
    next: 'The message says what is in the way; look at the nodes and jobs again, then choose anew.',
  },
  'partition.not_changed': {
    means: 'There is nothing to take back: the partition is as its config says.',
    next: '`weft partition show` says what is set and by whom.',
  },
  'qos.unknown': {
    means: 'The config has no quality of service of this name.',
    next: '`weft qos list` shows them; leave `--qos` out for the ordinary one.',
  },
  'qos.access_denied': {
    means: 'The config lets only some users and groups use this quality of service.',
    next: 'Leave `--qos` out, or ask an admin.',
  },
  'quota.exceeded': {
    means: 'You have as many jobs waiting as the quality of service allows.',
    next: 'Submit again when some have started, or use an array: it is one job.',
  },
  'user.cap_exceeded': {
    means:
      'One task of the job asks for more cpus or gpus than you may hold at once: it could never start.',
    next: 'Ask for less, for another type of gpus, or ask an admin for more: `weft user set NAME --cpus COUNT`.',
  },
  'login.not_found': {
    means: 'No login with this code waits for an answer.',
    next: 'Compare the code; after ten minutes `weft login` on the other machine shows a new one.',
  },
  'login.too_many': {
    means: 'So many people wait for an answer to their login that no other can be asked for.',
    next: 'Answer those that wait, or wait some minutes.',
  },
  'login.not_vouched': {
    means:
      'The node of this machine does not tell the head who you are: no admin has trusted it, it is not what was trusted, its head is another one, or you are root, have a role, or are nobody whom the head knows.',
    next: 'Go on with the code that `weft login` shows. An admin lets a node vouch with `weft node trust NODE`.',
  },
  'node.not_trusted': {
    means:
      'The node cannot vouch for its users: it runs all jobs as one user, stands for another cluster, has never connected, or nothing tells its machine from a copy.',
    next: 'Run its agent as root on a machine with a machine id of its own. Until then its users log in by code.',
  },
  'directory.not_shared': {
    means: 'The job is to run in a directory that no node declares to be the same everywhere.',
    next: '`--private` runs it in a directory of its own; `node.shared` in the config of its nodes declares one.',
  },
  'directory.not_on_nodes': {
    means:
      'The nodes that `--nodes-named` names do not declare the directory of the job as shared.',
    next: '`weft node list -o wide` shows what each node shares. `--private` needs no directory.',
  },
  'node.not_found': {
    means: 'No node of this name is enrolled.',
    next: '`weft node list` shows the names.',
  },
  'site.not_found': {
    means: 'No gateway of this name has said anything since the head started.',
    next: '`weft site list` shows the names; `weft node list` whether its gateway is there.',
  },
  'node.drained': {
    means: 'The node gets no new work already.',
    next: '`weft node undrain NAME` first, to give another reason.',
  },
  'node.not_drained': {
    means: 'The node gets work already.',
    next: 'Nothing; if it idles, `weft why JOB` tells what the job waits for.',
  },
  'node.reachable': {
    means: 'Declaring a live node lost would let its tasks run twice.',
    next: 'Drain it, or stop its agent and wait until it is unreachable.',
  },
  'node.busy': {
    means: 'A node is removed only when nothing of it is left anywhere.',
    next: 'Drain it and wait, or `weft requeue` what it runs; `weft node lost NAME` if it is gone.',
  },
  'node.cloned': {
    means: 'Two machines have one folder of an agent: an image made after the join, or a clone.',
    next: '`weft node reenroll` on the copy makes it a node of its own; `weft node show NODE` names both.',
  },
  'node.name_taken': {
    means: 'Two machines with one name would take each other’s work.',
    next: '`weft node remove NAME` when the old one is gone, else `weft join --name OTHER`.',
  },
  'node.not_connected': {
    means: 'The head cannot tell the node anything now.',
    next: 'Run `weft pause` or `weft unpause` on the machine itself; it works without the head.',
  },
  'agent.failed': {
    means: 'Another process runs this agent, or its state directory cannot be written.',
    next: 'Do what the message says; docs/recovery.md has the exit codes.',
  },
  'agent.unreachable': {
    means: 'The agent of the node does not run, or does not answer at its own socket.',
    next: 'See `systemctl status weft-agent`, or start it with `weft agent` or `weft up`.',
  },
  'node.not_owner': {
    means: 'Only its owners, whoever is logged in at its console, root and operators pause a node.',
    next: 'Ask to be named in `node.owners` of its configuration, or ask an operator.',
  },
  'node.at_site': {
    means: 'Pausing a node suspends what runs there; jobs of a site no pause suspends.',
    next: '`weft node drain NODE` keeps new tasks away; those that run go on, or are ended by `weft cancel`.',
  },
  'node.not_paused': {
    means: 'Nobody has asked for a pause that is still under way.',
    next: '`weft node show NODE` says how the node is.',
  },
  'pause.too_long': {
    means: 'A pause may not be longer than `node.pause_max` of the node.',
    next: 'Ask for a shorter one, and again when it ends; or drain the node.',
  },
  'maintenance.not_found': {
    means: 'Nothing of this id was planned, or it is over for so long that it is forgotten.',
    next: '`weft maint list --all` shows the ids.',
  },
  'maintenance.not_on': {
    means: 'A node is put back into service from a maintenance, or after one has failed there.',
    next: '`weft maint list` shows what is planned and under way; `weft node undrain` ends a drain.',
  },
  'maintenance.not_at_site': {
    means: 'The site of the node, another cluster, cannot do what this maintenance would need.',
    next: 'Leave out what the message names; docs/sites.md says what sites can do.',
  },
  'maintenance.over': {
    means: 'There is nothing left to call off.',
    next: '`weft maint show ID` says what came of it.',
  },
  'reservation.not_found': {
    means: 'Reservations are gone when they are over or cancelled.',
    next: '`weft reserve list` shows those that there are.',
  },
  'reservation.name_taken': {
    means: 'Jobs name reservations, so a name means one of them.',
    next: 'Choose another name, or leave `--name` out: the reservation is called by its id then.',
  },
  'reservation.past': {
    means:
      'What is over by the clock of the head cannot be set aside, for users or for maintenance.',
    next: 'Give a later time (`--at +2h`, `--at 22:00`), or begin now. Mind the time zone.',
  },
  'reservation.unsatisfiable': {
    means: 'Too few nodes are large enough, have the labels, and are not drained.',
    next: 'Ask for less of each node or for fewer nodes; `weft node list` shows what they have.',
  },
  'reservation.conflict': {
    means: 'Two, reservations or maintenance, would have the same share of a node at one time.',
    next: 'Choose other nodes or another time (`--within` finds the first), or cancel the other.',
  },
  'reservation.busy': {
    means:
      'A task may last into the reservation by its time limit: one that runs, or one that was stopped to make room and has to run on into times that recur.',
    next: 'Choose a later time, or `--force`: what runs then stays, and its share comes when it ends.',
  },
  'reservation.no_slot': {
    means:
      'Tasks, reservations and maintenance leave no gap that is long enough within the window.',
    next: 'Widen the window, shorten the duration, or ask for less; maintenance may begin at a fixed time.',
  },
  'reservation.denied': {
    means:
      'Only the users and groups of a reservation may submit into it; into maintenance nobody.',
    next: 'Ask whoever made it (`weft reserve show NAME`) to add you, or submit without it.',
  },
  'reservation.too_many': {
    means: 'Each reservation is looked at in every cycle of the scheduler.',
    next: 'Cancel what is not needed, or use one that recurs in place of many.',
  },
  'reservation.job_unfit': {
    means: 'The job could never start in it: no or too long a time limit, or too large a request.',
    next: 'Give the job a time limit within the reservation, and a request within its share.',
  },
  'user.not_found': {
    means: 'Nobody of this name has been given a role or a token.',
    next: '`weft user list` shows who has.',
  },
  'user.exists': {
    means: 'Creating a user twice would silently replace the role.',
    next: 'Modify the user instead.',
  },
  'token.not_found': {
    means: 'There is no token with this id; it may have been revoked already.',
    next: '`weft token list` shows the ids.',
  },
  'protocol.version': {
    means: 'Head and agent, or head and client, are of releases that do not understand each other.',
    next: 'Install the same release on both; the head first. Running jobs are not affected.',
  },
  'rate.exceeded': {
    means: 'One user, or one stranger’s address, asks faster than the head lets it.',
    next: 'Wait a second. `weft wait` and `GET /v1/events` need no polling; bulk submission exists.',
  },
  'head.behind': {
    means:
      'Nodes have heard of records that this head does not have: it was put back from an older copy, or is a copy. It starts and accepts nothing, so that no id is given twice.',
    next: 'Put the newer store back. Or start the head once with `--accept-loss`, and submit again what is lost.',
  },
  'head.starting': {
    means: 'The head is up, but has not yet rebuilt what it knew.',
    next: 'Try again with the same key; our client does so by itself.',
  },
  'head.stopping': {
    means: 'The head was told to stop; jobs go on without it.',
    next: 'Try again with the same key when it is back.',
  },
  'head.unreachable': {
    means: 'Nothing answered, or the connection broke before the answer was complete.',
    next: '`weft up` here, `systemctl status weft-head` there; `weft doctor` looks at the way between.',
  },
  'head.failed': {
    means:
      'The head could not start, or had to stop: damaged or missing state, a busy port, a disk.',
    next: 'Do what the message says; docs/recovery.md has the exit codes and each case.',
  },
  'page.not_built': {
    means: 'The head runs from its sources, and nothing has built the web page yet.',
    next: 'Run `npm run page` in the checkout and reload; the head need not restart.',
  },
  'store.unavailable': {
    means: 'Nothing can be made durable (often a full disk), so nothing is promised.',
    next: 'Make room; the head recovers by itself. What it answered before is kept.',
  },
  'trace.unreadable': {
    means: 'The file of `weft replay` is not there, may not be read, or is a broken .gz file.',
    next: 'Look at the path; unpack a .gz by `gunzip` to see what is wrong with it.',
  },
  'trace.empty': {
    means: 'Nothing is left to replay: no lines, or each job incomplete, broken or too large.',
    next: 'Too large: give the size of the machine of the trace (its header says `MaxProcs`).',
  },
  'wait.timeout': {
    means: 'The wait is over, not the job.',
    next: 'Wait again; `weft why JOB` tells what it is at.',
  },
  'event.too_old': {
    means: 'A reader of events was away for longer than the head remembers them.',
    next: 'Read the present state (`GET /v1/jobs`), then go on from its newest record.',
  },
  'event.not_yet': {
    means:
      'A reader of events names a record that the head has not made: by a slip, or as the head was put back to an older state.',
    next: 'Read the present state (`GET /v1/jobs`), then go on from its newest record.',
  },
  'log.elsewhere': {
    means: 'The job was submitted with `--output` or `--error`, so nothing was captured.',
    next: 'Read the file that is named, on the node or in the shared directory.',
  },
  'log.at_site': {
    means:
      'A user gave the job to a steered site with its own commands, which named the files for its output or left the names to the site.',
    next: 'Ask the site which files they are: `scontrol show job ID` of Slurm, `qstat -j ID` of Grid Engine, `oarstat -fj ID` of OAR; read them there.',
  },
  'log.lacking': {
    means:
      'The task is over, and its node is away or sends nothing any more of what the task has printed. What came is shown.',
    next: 'Read it again when the node is back: it keeps what it has not sent. `weft job` names the node.',
  },
  'log.no_run': {
    means: '`--epoch` names a start of the task that there has not been.',
    next: 'Leave `--epoch` out for the last one; `weft history ID --tasks` lists those that ended.',
  },
  'log.removed': {
    means:
      'Captured output is bounded (`head.log_total`): beyond it the oldest finished jobs give way, of ' +
      'users who keep more than an equal share.',
    next: 'Nothing brings it back; use `--output` for what must last, or raise the limit.',
  },
  'epoch.not_running': {
    means:
      'A node asked for files, or sent some, for a task that it does not run, or not any more: the task has ended, or was given to other nodes.',
    next: 'Nothing: the node gives the task up by itself.',
  },
  'outputs.partial': {
    means:
      'Contents of some files are damaged on the head, or gone from it. They are named; all others are in their places.',
    next: 'Check the disk of the head, and run again what is lacking. What lay in the places of those files is as it was.',
  },
  'outputs.too_large': {
    means: 'A task left more in its private directory than the head may keep of all jobs together.',
    next: 'Name what is wanted with `--out`, or ask an admin to raise `head.archive_max`.',
  },
  'outputs.not_found': {
    means:
      'The job left no files, wanted none kept (`--out none`), runs in a shared directory, is not done yet, or its files were removed, by its owner or because of their age.',
    next: 'Look at the job with `weft job show`.',
  },
  'files.lacking': {
    means:
      'The job names files that the head does not have from its submitter. It keeps what was sent for an hour at least, and as long as a job names it.',
    next: 'Submit with `weft run --in` or `weft submit`, which send what is lacking; programs send it by `POST /v1/blobs` and submit again.',
  },
  'blob.not_found': {
    means:
      'Nobody reads a file by its hash alone: you must have sent it, or have a job that names it.',
    next: 'Send the file. What no job names any more goes after a day.',
  },
  'blob.offset': {
    means: 'An upload goes on where the last one ended, and this piece begins elsewhere.',
    next: 'Ask where to go on: `HEAD /v1/blobs/HASH`. Our own client does so by itself.',
  },
  'blob.hash_mismatch': {
    means: 'The content does not have the hash that it was sent under, so nothing of it was kept.',
    next: 'Send it again once nobody writes to the file.',
  },
  'blob.damaged': {
    means: 'What came in one go from the head does not have the hash under which it is kept there.',
    next: 'Check the disk of the head. Sending the file again puts it right once the old one is removed.',
  },
  'outputs.damaged': {
    means:
      'The head listed files of a task in a way that cannot be right, such as one in a place outside of the job. It has a bug, or is not the one that it seems to be.',
    next: 'Check that `weft info` shows the cluster that you mean, and report it.',
  },
  'pull.busy': {
    means: 'Two commands that write the same files would spoil them for each other.',
    next: 'Wait for the other one, or name another folder with `--save-dir`.',
  },
  'blob.quota': {
    means: 'Files that jobs still need take up all that the head may keep.',
    next: 'Wait until jobs end, or ask an admin to raise `head.blobs_max`.',
  },
  'blob.user_quota': {
    means:
      'Files that this user has sent and that their jobs have left take up all that one user may keep.',
    next: 'Fetch results and remove them, or ask an admin for more: `weft user modify NAME --files SIZE`, or `head.user_files` for all.',
  },
  'blob.disk_full': {
    means: 'The head keeps the last of its disk for its own journal and takes no files from it.',
    next: 'Ask an admin to make room on the disk of the head; then send the file again.',
  },
  'blob.taken_over': {
    means: 'The same file was sent twice at once; the newer connection goes on.',
    next: 'Nothing, unless both were yours: then let one of them end.',
  },
  'route.unknown': {
    means: 'The head has no such path in its API.',
    next: '`docs/api.md` lists the paths; a client of a newer release may ask for more.',
  },
  'internal.error': {
    means: 'An assumption of the program was wrong. Nothing was accepted.',
    next: 'Report it with the lines of the head’s log that carry the incident’s number.',
  },
};
