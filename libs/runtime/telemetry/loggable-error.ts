/** An error of this repository, which the log shows by its message: the message quotes no data of requests or records. */
export class LoggableError extends Error {
  /** The name of its class. */
  override readonly name = this.constructor.name;
  readonly loggable = true;
}
