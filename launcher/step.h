/* The second form of this program: one step of a task, between two pipes of the agent. */
#ifndef WEFT_STEP_H
#define WEFT_STEP_H
/* Runs argv as the step; returns this process's exit code. */
int step_run(char **argv);
#endif
