/** What end-to-end tests get from outside of their namespaces, where the registries are reached. */

/** The environment variable that has them as JSON. */
export const INPUTS_VARIABLE = 'CREDITLANE_END_TO_END';

export function readInputs<Inputs>(): Inputs {
  const text = process.env[INPUTS_VARIABLE];
  if (text === undefined)
    throw new Error('npm run test:cluster and npm run test:compose run the end-to-end tests');
  return JSON.parse(text);
}
