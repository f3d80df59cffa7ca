/**
 * The longest that LOCK_TIMEOUT may be, for services under test. A test that holds a row looks for the calls that wait for it and
 * then frees the row; on a busy machine that may take longer than the default, after which the calls are refused.
 */
export const LONGEST_LOCK_TIMEOUT = { LOCK_TIMEOUT: '4s' };
