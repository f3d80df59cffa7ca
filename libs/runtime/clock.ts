/** The time of day as a dependency, so that rules about time can be tested without waiting. */
export type Clock = () => Date;

/** The machine's own clock. */
export const systemClock: Clock = () => new Date();
