/** The content types of JSON answers. */
export const JSON_TYPE = 'application/json';
/** As the header of an answer names it. */
export const JSON_UTF8_TYPE = `${JSON_TYPE}; charset=utf-8`;
export const PROBLEM_TYPE = 'application/problem+json';
