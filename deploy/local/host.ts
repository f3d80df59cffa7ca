/** The address that everything listens on: only this machine can reach it. */
export const HOST = '127.0.0.1';
