/** What every format does with the bytes of an answer. */
import type { BureauAnswer } from '../bureau.ts';
import { readXml, type XmlElement, XmlError } from './xml-document.ts';

/** What `read` makes of the root element; malformed whenever that fails. */
export function readAnswer(
  body: Uint8Array,
  read: (root: XmlElement) => BureauAnswer,
): BureauAnswer {
  try {
    return read(readXml(body));
  } catch (error) {
    if (error instanceof XmlError) return malformed(`The answer ${error.message}.`);
    // Thrown, it would leave open whether the bureau has answered. The message may hold parts of the answer.
    return malformed(
      `The answer cannot be read: ${error instanceof Error ? error.name : 'unknown'}.`,
    );
  }
}

export function malformed(problem: string): BureauAnswer {
  return { kind: 'malformed', problem };
}
