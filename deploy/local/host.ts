/** Everything on a person's machine listens here: nobody beside them can reach it. */
export const HOST = '127.0.0.1';
