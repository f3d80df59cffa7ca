/** A limit on how long a caller waits for work. */
export interface TimeLimit {
  limitMs: number;
  /** The time starts to run when this signal aborts; at once when left out. */
  startsOn?: AbortSignal;
  /** Makes the error that the caller gets when the time is over. */
  makeError(): Error;
}

/**
 * Returns the outcome of `work`, or rejects with `makeError()` when `work` has not ended in time.
 * The work itself is not stopped; when it fails after the time limit, its error is ignored.
 */
export async function withTimeLimit<T>(
  work: Promise<T>,
  { limitMs, startsOn, makeError }: TimeLimit,
): Promise<T> {
  const limit = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const start = () => {
    timer = setTimeout(() => limit.reject(makeError()), limitMs);
  };
  if (startsOn === undefined || startsOn.aborted) start();
  else startsOn.addEventListener('abort', start, { once: true });
  try {
    return await Promise.race([work, limit.promise]);
  } finally {
    startsOn?.removeEventListener('abort', start);
    clearTimeout(timer);
  }
}
