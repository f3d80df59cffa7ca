/** The largest message that a service reads, unless told otherwise; applications are a few KiB. */
export const READ_MAX_BYTES = 4 * 1024 * 1024;
