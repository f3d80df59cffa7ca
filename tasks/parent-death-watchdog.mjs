// @ts-check
// Loaded into every task: when the launcher is killed outright, the task's whole process group
// goes with it. Without this `kill -9` on `npm start` would leave a server behind.

// Processes that a task starts inherit this module with the task's flags, and have to ignore it.
if (process.channel && process.env.CREDITLANE_LAUNCHER === String(process.ppid)) {
  process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'));
  // The watchdog must not keep a finished task alive.
  process.channel.unref();
}
