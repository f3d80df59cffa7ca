// @ts-check
// Loaded into every task: kills the process group of the task when the launcher dies. Otherwise `kill -9`
// on `npm start` would leave its servers running.

// The child processes of a task load this module too, because they inherit the task's flags. Only the
// child of the launcher acts.
if (process.channel && process.env.CREDITLANE_LAUNCHER === String(process.ppid)) {
  process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
  // The open channel must not keep a finished task alive.
  process.channel.unref();
}
