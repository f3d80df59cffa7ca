/** The current time as a dependency, so that tests control it. */
export type Clock = () => Date;

/** The clock of the machine. */
export const systemClock: Clock = () => new Date();
