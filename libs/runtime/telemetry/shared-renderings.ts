import { setTimeout as delay } from 'node:timers/promises';

/** A page of metrics costs 2 to 5 ms of CPU: at this pace, at most 2.5 % of a core, whoever asks. */
const INTERVAL_MS = 200;

/**
 * Returns a function that resolves to a page which `render` begins after the call. It begins one page at a
 * time, and each at least `INTERVAL_MS` after the one before; calls that come meanwhile share the next page.
 * A page that was kept would be old, and two readings soon after one another would not show what happened
 * between them.
 */
export function shareRenderings(render: () => Promise<string>): () => Promise<string> {
  let next: Promise<string> | undefined;
  let pause: Promise<unknown> = Promise.resolve();
  return () => {
    next ??= pause.then(() => {
      next = undefined;
      const page = render();
      pause = Promise.allSettled([page, delay(INTERVAL_MS, undefined, { ref: false })]);
      return page;
    });
    return next;
  };
}
